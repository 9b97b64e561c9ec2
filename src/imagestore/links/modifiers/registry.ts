import type { Modifier } from './modifier.ts'
import { background } from './tokens/background.ts'
import { dpr } from './tokens/dpr.ts'
import { blur, gray, pixelate, radius, sharpen } from './tokens/effects.ts'
import { fit } from './tokens/fit.ts'
import { format } from './tokens/format.ts'
import { frame } from './tokens/frame.ts'
import { flip, flop, pad, rotate, trim } from './tokens/geometry.ts'
import { gravity } from './tokens/gravity.ts'
import { metadata } from './tokens/metadata.ts'
import { quality } from './tokens/quality.ts'
import { ratio } from './tokens/ratio.ts'
import { enlarge, height, size, width } from './tokens/size.ts'
import { watermark } from './tokens/watermark.ts'

const all = [
  width,
  height,
  size,
  ratio,
  dpr,
  enlarge,
  fit,
  gravity,
  rotate,
  flip,
  flop,
  trim,
  pad,
  background,
  format,
  quality,
  blur,
  sharpen,
  gray,
  pixelate,
  radius,
  frame,
  metadata,
  watermark,
]

/** Every modifier by its key. */
export const modifiers: ReadonlyMap<string, Modifier> = new Map(
  all.map((modifier) => [modifier.key, modifier]),
)
