import { integer, type Modifier } from '../modifier.ts'

export const quality: Modifier = {
  key: 'q',
  settles: ['quality'],
  takes: 'un entero de 1 a 100, o auto',
  parse: (value) => {
    const quality = value === 'auto' ? value : integer(value, 1, 100)
    return quality === undefined ? undefined : { quality }
  },
}
