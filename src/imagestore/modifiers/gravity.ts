import { parseDecimal, type Modifier } from './modifier.ts'

export const COMPASS_POINTS = ['center', 'n', 'ne', 'e', 'se', 's', 'sw', 'w', 'nw'] as const
export type CompassPoint = (typeof COMPASS_POINTS)[number]

/** What a crop keeps. `x` and `y` run from 0 (left, top) to 1. */
export type Gravity =
  | { readonly kind: 'compass'; readonly point: CompassPoint }
  | { readonly kind: 'auto' }
  | { readonly kind: 'entropy' }
  | { readonly kind: 'point'; readonly x: number; readonly y: number }

export const gravity: Modifier<Gravity> = {
  key: 'g',
  initial: { kind: 'compass', point: 'center' },
  values: `${COMPASS_POINTS.map((point) => `\`${point}\``).join(', ')}, \`auto\`, \`entropy\`, \`xy_X_Y\` with X and Y from 0 to 1`,
  expected: `${COMPASS_POINTS.join(', ')}, auto, entropy, xy_X_Y con X e Y de 0 a 1`,
  description:
    'what `c_fill` and `c_crop` keep: the middle, an edge or corner; the part that draws the eye or has the most detail, ' +
    'scaled to fill the box; or the part around a point, `0_0` being left top',
  examples: ['g_center', 'g_nw', 'g_s', 'g_auto', 'g_entropy', 'g_xy_0_1', 'g_xy_0.3_0.6'],
  parse: (text) => {
    if (text === 'auto' || text === 'entropy') return { kind: text }
    const point = COMPASS_POINTS.find((one) => one === text)
    if (point !== undefined) return { kind: 'compass', point }
    const [prefix, left, top, ...rest] = text?.split('_') ?? []
    const x = parseDecimal(left, 0, 1)
    const y = parseDecimal(top, 0, 1)
    return prefix !== 'xy' || x === undefined || y === undefined || rest.length > 0
      ? undefined
      : { kind: 'point', x, y }
  },
  needsStill: ({ kind }) => kind === 'auto' || kind === 'entropy',
  format: (value) => {
    if (value.kind === 'point') return `g_xy_${value.x}_${value.y}`
    return `g_${value.kind === 'compass' ? value.point : value.kind}`
  },
}
