import { decimal, type Modifier } from '../modifier.ts'

export const dpr: Modifier = {
  key: 'dpr',
  settles: ['dpr'],
  takes: 'un número de 1 a 4',
  parse: (value) => {
    const dpr = decimal(value, 1, 4)
    return dpr === undefined ? undefined : { dpr }
  },
}
