import sharp, { type OverlayOptions } from 'sharp'
import type { MarkPlace } from '../image-settings.ts'
import { openPicture, type Source } from './source.ts'
import { settled, type Stage } from './stage.ts'

export interface MarkSource {
  readonly source: Source
  readonly place: MarkPlace
}

const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 }

/** Lays an image over each frame, no wider or higher than what is left between the margins. */
export async function marked(stage: Stage, { source, place }: MarkSource, animated: boolean): Promise<Stage> {
  const { width, height } = stage
  const margin = Math.round((width * place.margin) / 100)
  const room = (side: number): number => Math.max(1, side - 2 * margin)
  const picture = await openPicture(source)
  const { data, info } = await picture
    .autoOrient()
    .resize({
      width: Math.min(room(width), Math.max(1, Math.round((width * place.width) / 100))),
      height: room(height),
      fit: 'inside',
    })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  for (let alpha = 3; alpha < data.length; alpha += 4) {
    data[alpha] = Math.round(((data[alpha] ?? 0) * place.opacity) / 100)
  }
  const left = offset(place.at, 'w', 'e', width - info.width, margin)
  const top = offset(place.at, 'n', 's', height - info.height, margin)
  const raw = { width: info.width, height: info.height, channels: info.channels }
  if (!animated) {
    const { image } = await settled(stage)
    return { image: image.composite([{ input: data, raw, left, top }]), width, height }
  }
  // As large as a frame: repeated down the strip of frames it falls on each of them.
  const frame = await sharp({ create: { width, height, channels: 4, background: CLEAR } })
    .composite([{ input: data, raw, left, top }])
    .png()
    .toBuffer()
  const overlays: OverlayOptions[] = [
    ...(stage.overlays ?? []),
    { input: frame, tile: true, gravity: 'northwest' },
  ]
  return { ...stage, image: stage.image.composite(overlays), overlays }
}

function offset(at: MarkPlace['at'], first: string, last: string, room: number, margin: number): number {
  const place =
    at === 'center' ? room / 2 : at.includes(first) ? margin : at.includes(last) ? room - margin : room / 2
  return Math.min(room, Math.max(0, Math.round(place)))
}
