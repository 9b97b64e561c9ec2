export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif' | 'tiff' | 'svg'

export const mimeOf = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  tiff: 'image/tiff',
  svg: 'image/svg+xml',
} as const satisfies Record<ImageFormat, string>

/**
 * What the container says about itself. Decoders stop at the last row that they need, so a truncated file can look whole
 * to them.
 */
export interface Structure {
  /** The file reaches its own end marker. */
  readonly complete: boolean
  /** The decoder holds the whole image in memory before it returns the first row. */
  readonly buffered: boolean
  /** 16-bit gray without alpha. Pillow clips it to 8 bits, where it keeps the high byte of other deep formats. */
  readonly clipsGray: boolean
  /** The size does not bound the time to decode: a few bytes can take seconds. */
  readonly complex: boolean
  /** Decoders would take quadratic time: for EXIF pointers to one directory, or a long list of frames. */
  readonly quadratic: boolean
}

export const complete: Structure = {
  complete: true,
  buffered: false,
  clipsGray: false,
  complex: false,
  quadratic: false,
}
export const truncated: Structure = { ...complete, complete: false }
