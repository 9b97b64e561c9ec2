/** CIE x and y of the white point and of the red, green and blue primaries. */
export interface Chromaticities {
  readonly white: readonly [x: number, y: number]
  readonly primaries: readonly (readonly [x: number, y: number])[]
}

export const SRGB: Chromaticities = {
  white: [0.3127, 0.329],
  primaries: [
    [0.64, 0.33],
    [0.3, 0.6],
    [0.15, 0.06],
  ],
}

type Vector = readonly [number, number, number]
type Matrix = readonly [Vector, Vector, Vector]

const D50: Vector = [0.9642, 1, 0.8249]
/** Bradford cone response matrix. */
const BRADFORD: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
]

const HEADER_BYTES = 128
const TAG_BYTES = 12

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const apply = (m: Matrix, v: Vector): Vector => [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]
const transposed = ([a, b, c]: Matrix): Matrix => [
  [a[0], b[0], c[0]],
  [a[1], b[1], c[1]],
  [a[2], b[2], c[2]],
]
const scale = (v: Vector, by: number): Vector => [v[0] * by, v[1] * by, v[2] * by]

function inverse(m: Matrix): Matrix {
  const [a, b, c] = m
  const determinant = dot(a, cross(b, c))
  return transposed([
    scale(cross(b, c), 1 / determinant),
    scale(cross(c, a), 1 / determinant),
    scale(cross(a, b), 1 / determinant),
  ])
}

const toXyz = ([x, y]: readonly [number, number]): Vector => [x / y, 1, (1 - x - y) / y]

/** XYZ of the primaries at full intensity, adapted to D50. Undefined if they are collinear. */
function colorants({ white, primaries }: Chromaticities): readonly Vector[] | undefined {
  const [red, green, blue] = primaries
  if (red === undefined || green === undefined || blue === undefined) return undefined
  const columns = transposed([toXyz(red), toXyz(green), toXyz(blue)])
  const source = toXyz(white)
  const strengths = apply(inverse(columns), source)
  const [from, to] = [apply(BRADFORD, source), apply(BRADFORD, D50)]
  const adapted = transposed(columns).map((column, i) => {
    const cones = apply(BRADFORD, scale(column, strengths[i] ?? 0))
    return apply(inverse(BRADFORD), [
      (cones[0] * to[0]) / from[0],
      (cones[1] * to[1]) / from[1],
      (cones[2] * to[2]) / from[2],
    ])
  })
  return adapted.flat().every(Number.isFinite) ? adapted : undefined
}

function fixed(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, i) => bytes.writeInt32BE(Math.round(value * 65_536), i * 4))
  return bytes
}

const xyz = (v: Vector): Buffer => Buffer.concat([Buffer.from('XYZ \0\0\0\0'), fixed(v)])
/** Parametric curve of type 0: a pure power function. */
const power = (exponent: number): Buffer =>
  Buffer.concat([Buffer.from('para\0\0\0\0\0\0\0\0'), fixed([exponent])])

/**
 * Creates an ICC profile (version 4) for samples that are light to the power of 1 / `exponent`.
 * @param chromaticities undefined for gray
 * @returns undefined if the primaries are collinear
 */
export function createProfile(
  exponent: number,
  chromaticities: Chromaticities | undefined,
): Buffer | undefined {
  const curve = power(exponent)
  const white: readonly [string, Buffer] = ['wtpt', xyz(D50)]
  if (chromaticities === undefined) return profile('GRAY', [white, ['kTRC', curve]])
  const found = colorants(chromaticities)
  if (found === undefined) return undefined
  const tags = found.flatMap((colorant, i): readonly (readonly [string, Buffer])[] => {
    const letter = 'rgb'.charAt(i)
    return [
      [`${letter}XYZ`, xyz(colorant)],
      [`${letter}TRC`, curve],
    ]
  })
  return profile('RGB ', [white, ...tags])
}

function profile(space: string, tags: readonly (readonly [name: string, value: Buffer])[]): Buffer {
  const head = Buffer.alloc(HEADER_BYTES + 4 + tags.length * TAG_BYTES)
  let at = head.length
  head.writeUInt32BE(at + tags.reduce((sum, [, value]) => sum + value.length, 0))
  head.writeUInt32BE(0x04200000, 8)
  head.write(`mntr${space}XYZ `, 12, 'latin1')
  head.write('acsp', 36, 'latin1')
  fixed(D50).copy(head, 68)
  head.writeUInt32BE(tags.length, HEADER_BYTES)
  tags.forEach(([name, value], i) => {
    const entry = HEADER_BYTES + 4 + i * TAG_BYTES
    head.write(name, entry, 'latin1')
    head.writeUInt32BE(at, entry + 4)
    head.writeUInt32BE(value.length, entry + 8)
    at += value.length
  })
  return Buffer.concat([head, ...tags.map(([, value]) => value)])
}
