import { oneOf, type Modifier } from '../modifier.ts'
import { fits } from '../plan.ts'

export const fit: Modifier = {
  key: 'c',
  settles: ['fit'],
  takes: fits.join(', '),
  parse: (value) => {
    const fit = oneOf(value, fits)
    return fit === undefined ? undefined : { fit }
  },
}
