import { integer, type Modifier } from '../modifier.ts'

export const frame: Modifier = {
  key: 'frame',
  settles: ['frame'],
  takes: 'un entero de 0 a 9999',
  parse: (value) => {
    const frame = integer(value, 0, 9999)
    return frame === undefined ? undefined : { frame }
  },
}
