import { flag, integer, type Modifier } from '../modifier.ts'
import { MAX_SIDE } from '../plan.ts'

const pixels = `un entero de 1 a ${MAX_SIDE}`

export const width: Modifier = {
  key: 'w',
  settles: ['width'],
  takes: pixels,
  parse: (value) => {
    const width = integer(value, 1, MAX_SIDE)
    return width === undefined ? undefined : { width }
  },
}

export const height: Modifier = {
  key: 'h',
  settles: ['height'],
  takes: pixels,
  parse: (value) => {
    const height = integer(value, 1, MAX_SIDE)
    return height === undefined ? undefined : { height }
  },
}

export const size: Modifier = {
  key: 's',
  settles: ['width', 'height'],
  takes: `ANCHOxALTO, cada uno ${pixels}`,
  parse: (value) => {
    const [left, right, ...rest] = value?.split('x') ?? []
    const width = integer(left, 1, MAX_SIDE)
    const height = integer(right, 1, MAX_SIDE)
    return width === undefined || height === undefined || rest.length > 0 ? undefined : { width, height }
  },
}

export const enlarge: Modifier = flag('up', 'enlarge')
