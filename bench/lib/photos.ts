import sharp from 'sharp'

const STAMP_DIGITS = 12
/** Start of image, and marker and length of a comment. Its text starts at byte 6, on a boundary of base64 groups. */
const COMMENT = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xfe, 0, 2 + STAMP_DIGITS]),
  Buffer.alloc(STAMP_DIGITS, '0'),
])
const STAMP_AT = 6

/**
 * Generates a JPEG similar to a photograph: soft light, larger shapes and fine grain. `grain` determines its size: 50
 * results in about 0.35 bytes per pixel.
 */
export async function photo(width: number, height: number, grain = 50, quality = 90): Promise<Buffer> {
  const layer = async (cell: number, sigma: number) => {
    const small = sharp({
      create: {
        width: Math.max(4, Math.round(width / cell)),
        height: Math.max(4, Math.round(height / cell)),
        channels: 3,
        background: '#000',
        noise: { type: 'gaussian', mean: 128, sigma },
      },
    })
    return sharp(await small.png().toBuffer())
      .resize(width, height, { fit: 'fill', kernel: 'cubic' })
      .png({ compressionLevel: 1 })
      .toBuffer()
  }
  const shapes = [await layer(32, 40), await layer(4, grain)]
  const jpeg = await sharp(await layer(width / 8, 60))
    .composite(shapes.map((input) => ({ input, blend: 'overlay' as const })))
    .jpeg({ quality })
    .toBuffer()
  return Buffer.concat([COMMENT, jpeg.subarray(2)])
}

/** Makes the bytes of a picture unique: writes `number` to its comment, in place. */
export function stamp(jpeg: Buffer, number: number): Buffer {
  jpeg.write(String(number).padStart(STAMP_DIGITS, '0'), STAMP_AT, 'latin1')
  return jpeg
}

/** Pads a JPEG to `size` bytes with comments. */
export function padded(jpeg: Buffer, size: number): Buffer {
  const parts = [jpeg.subarray(0, 2)]
  for (let left = size - jpeg.length; left >= 4;) {
    const length = Math.min(left - 2, 65_000)
    const comment = Buffer.alloc(2 + length, ' ')
    comment.writeUInt16BE(0xfffe, 0)
    comment.writeUInt16BE(length, 2)
    parts.push(comment)
    left -= comment.length
  }
  return Buffer.concat([...parts, jpeg.subarray(2)])
}

const INFO = { name: 'foto.jpg', mime: 'image/jpeg', ip: '200.1.2.3' }
let stamps = 0

/** The body of an upload whose picture can be made unique in place, without building it again. */
export class UploadBody {
  readonly contentType = 'application/json'
  readonly bytes: Buffer
  readonly #image: Buffer
  readonly #at: number

  constructor(jpeg: Buffer) {
    this.#image = Buffer.from(jpeg.subarray(0, STAMP_AT + STAMP_DIGITS))
    const head = `{"info":${JSON.stringify(INFO)},"image":"`
    this.#at = head.length
    this.bytes = Buffer.from(`${head}${jpeg.toString('base64')}"}`)
  }

  /** Returns the body with a picture that is unique in this run. */
  next(): Buffer {
    return this.stamped(stamps++)
  }

  stamped(number: number): Buffer {
    this.bytes.write(stamp(this.#image, number).toString('base64'), this.#at, 'latin1')
    return this.bytes
  }
}
