import { MAX_SIDE, type Gravity, type Plan } from '../links/modifiers/plan.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

export interface Box extends Size {
  readonly left: number
  readonly top: number
}

/** How an image becomes its derivative: cut, scaled, then cropped, then set on a larger canvas. All in pixels. */
export interface Geometry {
  /** Cut out of the image before it is scaled: of what is a hundred times as long as wide, most would be scaled in vain. */
  readonly cut?: Box
  readonly scaled: Size
  readonly crop: Box | undefined
  readonly canvas: Size
}

type SizePlan = Pick<Plan, 'width' | 'height' | 'ratio' | 'dpr' | 'enlarge' | 'fit' | 'gravity'>

/**
 * A scale, as what a side is to become and what it is. Never as their quotient: whoever asks for 238.5 is promised 239, and of 1834
 * times 238.5 / 1834 a little less than that would be left.
 */
interface Scale {
  readonly to: number
  readonly from: number
}

const UNSCALED: Scale = { to: 1, from: 1 }
/** Pixels a side of what is scaled only to be cropped. */
const MAX_SCALED_SIDE = 2 * MAX_SIDE
/** `dpr` has three decimals. */
const DPR_STEPS = 1000

const pixels = (side: number): number => Math.min(MAX_SIDE, Math.max(1, Math.round(side)))
const rounded = ({ width, height }: Size): Size => ({ width: pixels(width), height: pixels(height) })
const times = ({ width, height }: Size, { to, from }: Scale): Size => ({
  width: (width * to) / from,
  height: (height * to) / from,
})
const least = (...scales: readonly Scale[]): Scale =>
  scales.reduce((a, b) => (b.to / b.from < a.to / a.from ? b : a))

/** The box that the plan asks for; a side that it leaves open is infinite. */
function wantedBox(plan: SizePlan, image: Size): Size {
  const steps = Math.round(plan.dpr * DPR_STEPS)
  const width = plan.width === null ? undefined : (plan.width * steps) / DPR_STEPS
  const height = plan.height === null ? undefined : (plan.height * steps) / DPR_STEPS
  if (width !== undefined && height !== undefined) return { width, height }
  if (plan.ratio !== null) {
    const [across, down] = plan.ratio
    if (width !== undefined) return { width, height: (width * down) / across }
    if (height !== undefined) return { width: (height * across) / down, height }
    return image.width * down <= image.height * across
      ? { width: image.width, height: (image.width * down) / across }
      : { width: (image.height * across) / down, height: image.height }
  }
  return { width: width ?? Infinity, height: height ?? Infinity }
}

/** Where in the room left over the gravity puts a crop, as shares of it. */
function gravityShare(gravity: Gravity): readonly [x: number, y: number] {
  if (gravity.kind === 'point') return [gravity.x, gravity.y]
  if (gravity.kind !== 'compass' || gravity.point === 'center') return [0.5, 0.5]
  const { point } = gravity
  const x = point.includes('w') ? 0 : point.includes('e') ? 1 : 0.5
  const y = point.startsWith('n') ? 0 : point.startsWith('s') ? 1 : 0.5
  return [x, y]
}

function cropOf(from: Size, to: Size, gravity: Gravity): Box {
  const [x, y] = gravityShare(gravity)
  // A point names what should be in the middle; a compass point, the edge that stays.
  const place = (room: number, share: number, side: number, whole: number): number =>
    Math.round(
      Math.min(room, Math.max(0, gravity.kind === 'point' ? share * whole - side / 2 : share * room)),
    )
  return {
    ...to,
    left: place(from.width - to.width, x, to.width, from.width),
    top: place(from.height - to.height, y, to.height, from.height),
  }
}

/** The largest size of the same proportions that is no larger than `within`, nor than `size` itself. */
const shrunk = (size: Size, within: Size): Size =>
  times(
    size,
    least(UNSCALED, { to: within.width, from: size.width }, { to: within.height, from: size.height }),
  )

const smaller = (a: Size, b: Size): Size => ({
  width: Math.min(a.width, b.width),
  height: Math.min(a.height, b.height),
})

/** `image` is the size after orientation and rotation. Nothing grows unless the plan says so; no side passes the limit. */
export function geometryOf(plan: SizePlan, image: Size): Geometry {
  const box = wantedBox(plan, image)
  const open = !Number.isFinite(box.width) || !Number.isFinite(box.height)
  const limit = { width: MAX_SIDE, height: MAX_SIDE }
  // `fit` takes the box for two bounds that are independent of each other; the other modes keep its proportions.
  const capped = open || plan.fit === 'fit' ? smaller(box, limit) : shrunk(box, limit)
  const within = least({ to: capped.width, from: image.width }, { to: capped.height, from: image.height })
  const free =
    plan.enlarge && (plan.width !== null || plan.height !== null) ? within : least(UNSCALED, within)
  const inside = rounded(times(image, free))
  const plainly: Geometry = { scaled: inside, crop: undefined, canvas: inside }

  switch (plan.fit) {
    case 'fit':
      return plainly
    case 'pad':
      return open ? plainly : { ...plainly, canvas: rounded(capped) }
    case 'scale': {
      if (open) return plainly
      const scaled = rounded(plan.enlarge ? capped : smaller(capped, image))
      return { scaled, crop: undefined, canvas: scaled }
    }
    case 'crop': {
      const size = rounded(open ? smaller(capped, image) : shrunk(capped, image))
      return { scaled: image, crop: cropOf(image, size, plan.gravity), canvas: size }
    }
    case 'fill': {
      if (open) return plainly
      const size = rounded(plan.enlarge ? capped : shrunk(capped, image))
      const cover = Math.max(size.width / image.width, size.height / image.height)
      // Rounding must never leave the scaled image a pixel short of what is cut from it.
      const scaled = {
        width: Math.max(size.width, Math.round(image.width * cover)),
        height: Math.max(size.height, Math.round(image.height * cover)),
      }
      if (Math.max(scaled.width, scaled.height) > MAX_SCALED_SIDE) {
        const part = smaller(image, rounded(times(size, { to: 1, from: cover })))
        return { cut: cropOf(image, part, plan.gravity), scaled: size, crop: undefined, canvas: size }
      }
      return { scaled, crop: cropOf(scaled, size, plan.gravity), canvas: size }
    }
  }
}
