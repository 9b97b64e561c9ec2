import { MAX_SIDE, type Gravity, type Plan } from '../modifiers/plan.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

export interface Box extends Size {
  readonly left: number
  readonly top: number
}

/** How an image becomes its derivative: scaled, then cropped, then set on a larger canvas. All in pixels. */
export interface Geometry {
  readonly scaled: Size
  readonly crop: Box | undefined
  readonly canvas: Size
}

type SizePlan = Pick<Plan, 'width' | 'height' | 'ratio' | 'dpr' | 'enlarge' | 'fit' | 'gravity'>

const pixels = (side: number): number => Math.min(MAX_SIDE, Math.max(1, Math.round(side)))
const rounded = ({ width, height }: Size): Size => ({ width: pixels(width), height: pixels(height) })
const times = ({ width, height }: Size, factor: number): Size => ({
  width: width * factor,
  height: height * factor,
})

/** The box that the plan asks for; a side that it leaves open is infinite. */
function wantedBox(plan: SizePlan, image: Size): Size {
  const ratio = plan.ratio === null ? undefined : plan.ratio[0] / plan.ratio[1]
  const width = plan.width === null ? undefined : plan.width * plan.dpr
  const height = plan.height === null ? undefined : plan.height * plan.dpr
  if (width !== undefined && height !== undefined) return { width, height }
  if (ratio !== undefined) {
    if (width !== undefined) return { width, height: width / ratio }
    if (height !== undefined) return { width: height * ratio, height }
    const widest = Math.min(image.width, image.height * ratio)
    return { width: widest, height: widest / ratio }
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

const smaller = (a: Size, b: Size): Size => ({
  width: Math.min(a.width, b.width),
  height: Math.min(a.height, b.height),
})

/** `image` is the size after orientation and rotation. Nothing grows unless the plan says so; no side passes the limit. */
export function geometryOf(plan: SizePlan, image: Size): Geometry {
  const box = wantedBox(plan, image)
  const open = !Number.isFinite(box.width) || !Number.isFinite(box.height)
  const capped = smaller(box, { width: MAX_SIDE, height: MAX_SIDE })
  const within = Math.min(capped.width / image.width, capped.height / image.height)
  const free = plan.enlarge && (plan.width !== null || plan.height !== null) ? within : Math.min(1, within)
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
      const size = rounded(smaller(capped, image))
      return { scaled: image, crop: cropOf(image, size, plan.gravity), canvas: size }
    }
    case 'fill': {
      if (open) return plainly
      const shrink = plan.enlarge ? 1 : Math.min(1, image.width / capped.width, image.height / capped.height)
      const size = rounded(times(capped, shrink))
      const cover = Math.max(size.width / image.width, size.height / image.height)
      // Rounding must never leave the scaled image a pixel short of what is cut from it.
      const scaled = {
        width: Math.max(size.width, Math.round(image.width * cover)),
        height: Math.max(size.height, Math.round(image.height * cover)),
      }
      return { scaled, crop: cropOf(scaled, size, plan.gravity), canvas: size }
    }
  }
}
