import sharp, { type Sharp } from 'sharp'

const SIDE = 7_900
const FRAMES = 5_000
const INFO = { name: 'bomba', mime: 'image/png', ip: '200.1.2.3' }

export interface Bomb {
  readonly name: string
  /** Body of an upload. */
  readonly body: string
}

/** Generates decompression bombs, of each kind in turn. All have different bytes. */
export async function bombs(count: number): Promise<Bomb[]> {
  const large = () =>
    sharp({ create: { width: SIDE, height: SIDE, channels: 3, background: '#258' }, limitInputPixels: false })
  const whole = (image: Sharp) => image.toBuffer()
  const kinds: readonly (readonly [name: string, bytes: Buffer])[] = [
    ['AVIF of 62 megapixels', await whole(large().avif({ effort: 0 }))],
    ['interlaced PNG of 62 megapixels', await whole(large().png({ progressive: true }))],
    ['progressive JPEG of 62 megapixels', await whole(large().jpeg({ progressive: true }))],
    ['WebP of 62 megapixels', await whole(large().webp({ effort: 0 }))],
    [`GIF of ${FRAMES} frames`, animation(100, FRAMES)],
    ['SVG tower of `use`', tower(9)],
  ]
  return Array.from({ length: count }, (_, i) => {
    const [name, bytes] = kinds[i % kinds.length] ?? ['', Buffer.alloc(0)]
    // Decoders ignore bytes after the end of an image; in SVG this is a comment.
    const stamped = Buffer.concat([bytes, Buffer.from(`<!-- ${i} -->`)])
    return { name, body: JSON.stringify({ info: INFO, image: stamped.toString('base64') }) }
  })
}

/** Each frame covers one pixel of the canvas. */
function animation(side: number, frames: number): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt16LE(side, 0)
  size.writeUInt16LE(side, 2)
  const frame = Buffer.from('21f90400010000002c0000000001000100000202440100', 'hex')
  const head = Buffer.concat([Buffer.from('GIF89a'), size, Buffer.from('800000000000ffffff', 'hex')])
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(';')])
}

/** Each group uses the previous one ten times. */
function tower(levels: number): Buffer {
  let groups = '<g id="g0"><rect width="9" height="9"/></g>'
  for (let level = 1; level <= levels; level++) {
    groups += `<g id="g${level}">${`<use xlink:href="#g${level - 1}"/>`.repeat(10)}</g>`
  }
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="100" height="100">` +
      `<defs>${groups}</defs><use xlink:href="#g${levels}"/></svg>`,
  )
}
