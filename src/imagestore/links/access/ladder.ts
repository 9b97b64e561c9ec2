import { MAX_SIDE, type SettledPlan } from '../modifiers/plan.ts'

/** Pixels. From 24 on a step is at most half more than the one below it, so that an image is never much larger than wanted. */
const STEPS = [
  16,
  24,
  32,
  48,
  64,
  96,
  128,
  160,
  192,
  256,
  320,
  384,
  480,
  512,
  640,
  768,
  960,
  1024,
  1280,
  1440,
  1600,
  1920,
  2048,
  2560,
  3072,
  3840,
  4096,
  5120,
  6144,
  MAX_SIDE,
]

/** The least step that is not below `pixels`. */
const up = (pixels: number): number => STEPS.find((step) => step >= pixels) ?? MAX_SIDE
const side = (pixels: number | null, dpr: number): number | null => pixels && up(Math.round(pixels * dpr))
const tenth = (share: number): number => Math.round(share * 10) / 10

/** The nearest plan with sizes from the ladder: of all numbers that a link may hold, few are left. */
export function snapped(plan: SettledPlan): SettledPlan {
  const { quality, gravity, radius } = plan
  return {
    ...plan,
    width: side(plan.width, plan.dpr),
    height: side(plan.height, plan.dpr),
    dpr: 1,
    pad: plan.pad && up(plan.pad),
    pixelate: plan.pixelate && up(plan.pixelate),
    radius: typeof radius === 'number' && radius > 0 ? up(radius) : radius,
    blur: plan.blur && Math.max(1, Math.round(plan.blur)),
    quality: typeof quality === 'number' ? Math.ceil(quality / 10) * 10 : quality,
    gravity: gravity.kind === 'point' ? { ...gravity, x: tenth(gravity.x), y: tenth(gravity.y) } : gravity,
  }
}
