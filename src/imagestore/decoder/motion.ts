import type { Plan } from '../links/modifiers/plan.ts'

/** What of an image tells whether it moves. */
interface Moving {
  readonly kind: string
  readonly frames: number
}

/** Steps that the library does not do frame by frame: an animation loses its motion to them. */
const stillOnly = (plan: Plan): boolean =>
  plan.trim ||
  plan.rotate !== 0 ||
  plan.flip ||
  plan.flop ||
  plan.pad > 0 ||
  plan.pixelate > 0 ||
  plan.radius !== 0 ||
  plan.fit === 'pad' ||
  plan.gravity.kind === 'auto' ||
  plan.gravity.kind === 'entropy' ||
  plan.frame !== null

/** Whether the derivative of this image keeps its frames. */
export function staysAnimated(plan: Plan, { kind, frames }: Moving, format: string): boolean {
  const source = kind === 'gif' || kind === 'webp'
  return source && frames > 1 && (format === 'gif' || format === 'webp') && !stillOnly(plan)
}
