import { detectKind } from '../decoder/kind.ts'
import type { ImageKind } from '../decoder/types.ts'
import { stripAvif } from './avif.ts'
import { stripGif } from './gif.ts'
import { stripJpeg } from './jpeg.ts'
import { stripPng } from './png.ts'
import { stripTiff } from './tiff.ts'
import { stripWebp } from './webp.ts'

const strippers = {
  avif: stripAvif,
  gif: stripGif,
  jpeg: stripJpeg,
  png: stripPng,
  // Text for people to read and write: what its author put there, its author sees.
  svg: (bytes) => bytes,
  tiff: stripTiff,
  webp: stripWebp,
} satisfies Record<ImageKind, (bytes: Buffer) => Buffer | undefined>

/**
 * The image without what it says beside the picture: place, time, camera, owner, thumbnails, comments. Pixels are not touched;
 * orientation and colour profile, without which they look wrong, stay. Undefined when the file is not built as its kind
 * should be, so that nobody can say what is left in it.
 */
export function strip(bytes: Buffer): Buffer | undefined {
  const kind = detectKind(bytes)
  try {
    return kind === undefined ? undefined : strippers[kind](bytes)
  } catch (error) {
    // A length that points past the file's end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
