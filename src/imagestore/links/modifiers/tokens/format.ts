import { oneOf, type Modifier } from '../modifier.ts'
import { outputFormats } from '../plan.ts'

export const format: Modifier = {
  key: 'f',
  settles: ['format'],
  takes: ['auto', ...outputFormats].join(', '),
  parse: (value) => {
    const format = value === 'jpeg' ? 'jpg' : oneOf(value, ['auto', ...outputFormats])
    return format === undefined ? undefined : { format }
  },
}
