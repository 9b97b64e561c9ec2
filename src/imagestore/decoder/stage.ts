import sharp, { type OverlayOptions, type Sharp } from 'sharp'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** A pipeline on the way to a derivative, and the size of one frame of its output. */
export class Stage implements Size {
  readonly image: Sharp
  readonly width: number
  readonly height: number
  readonly isAnimated: boolean
  /** What is composited when it runs. Sharp forgets earlier overlays at each call of `composite`. */
  readonly overlays: readonly OverlayOptions[]

  constructor(
    image: Sharp,
    { width, height }: Size,
    isAnimated = false,
    overlays: readonly OverlayOptions[] = [],
  ) {
    this.image = image
    this.width = width
    this.height = height
    this.isAnimated = isAnimated
    this.overlays = overlays
  }

  /** Returns the same stage with another pipeline, which may change the size. */
  with(image: Sharp, size: Size = this): Stage {
    return new Stage(image, size, this.isAnimated)
  }

  /** Adds what is put on, or behind, each frame. */
  composite(overlay: OverlayOptions): Stage {
    const overlays = [...this.overlays, overlay]
    return new Stage(this.image.composite(overlays), this, this.isAnimated, overlays)
  }

  /** Runs a pipeline, by default the one so far, so that further steps run in our order and not in sharp's own. */
  async render(image = this.image): Promise<Stage> {
    const { open, pixels } = await rasterize(image)
    return this.with(open(), pixels)
  }

  /** Runs the pipeline so far, and changes its pixels. */
  async map(change: (pixels: Pixels) => Pixels): Promise<Stage> {
    const changed = change((await rasterize(this.image)).pixels)
    return this.with(openPixels(changed), changed)
  }

  /** Removes colours. Goes through a file, because sharp drops the alpha channel of raw gray pixels. */
  async renderGray(): Promise<Stage> {
    return this.render(sharp(await this.image.toColourspace('b-w').png({ compressionLevel: 0 }).toBuffer()))
  }
}

/** Runs a pipeline. `open` begins another one from its pixels. */
export async function rasterize(image: Sharp) {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true })
  const pixels = asPixels(data, info.width, info.height, info.channels)
  return { open: () => openPixels(pixels), pixels }
}

const openPixels = ({ data, width, height, channels }: Pixels): Sharp =>
  sharp(data, { raw: { width, height, channels } })
