import { integer, type Modifier } from '../modifier.ts'

const MAX_TERM = 100

export const ratio: Modifier = {
  key: 'ar',
  settles: ['ratio'],
  takes: `ANCHO:ALTO, cada uno un entero de 1 a ${MAX_TERM}`,
  parse: (value) => {
    const [left, right, ...rest] = value?.split(':') ?? []
    const width = integer(left, 1, MAX_TERM)
    const height = integer(right, 1, MAX_TERM)
    if (width === undefined || height === undefined || rest.length > 0) return undefined
    return { ratio: [width, height] }
  },
}
