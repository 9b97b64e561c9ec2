import { MAX_SIDE_PIXELS, roundValues, type ResolvedTransformation } from '../../lib/modifiers/index.ts'

/** Pixels. From 24 on a step is at most half as large again as the one below, so outputs are never much larger than requested. */
export const SIZE_STEPS = [
  16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 480, 512, 640, 768, 960, 1024, 1280, 1440, 1600, 1920,
  2048, 2560, 3072, 3840, 4096, 5120, 6144, 8192,
]

/** Rounds sizes up to the next step, and all other values to few. */
export const roundToSteps = (transformation: ResolvedTransformation): ResolvedTransformation =>
  roundValues(transformation, (pixels) => SIZE_STEPS.find((step) => step >= pixels) ?? MAX_SIDE_PIXELS)
