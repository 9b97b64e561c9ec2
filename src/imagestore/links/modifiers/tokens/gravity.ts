import { decimal, oneOf, type Modifier } from '../modifier.ts'
import { compassPoints } from '../plan.ts'

export const gravity: Modifier = {
  key: 'g',
  settles: ['gravity'],
  takes: `${compassPoints.join(', ')}, auto, entropy, xy_X_Y con X e Y de 0 a 1`,
  parse: (value) => {
    const point = oneOf(value, compassPoints)
    if (point !== undefined) return { gravity: { kind: 'compass', point } }
    const named = oneOf(value, ['auto', 'entropy'])
    if (named !== undefined) return { gravity: { kind: named } }
    const [mark, left, top, ...rest] = value?.split('_') ?? []
    const x = decimal(left, 0, 1)
    const y = decimal(top, 0, 1)
    if (mark !== 'xy' || x === undefined || y === undefined || rest.length > 0) return undefined
    return { gravity: { kind: 'point', x, y } }
  },
}
