/**
 * What the container itself says. Decoders stop at the last row they need, so a file cut after it looks whole to them:
 * `complete` tells whether the file reaches its own end mark.
 */
export interface Structure {
  readonly complete: boolean
  /** The decoder holds the whole image in memory before it gives the first row. */
  readonly buffered: boolean
  /** 16-bit gray without alpha, which Pillow clips to 8 bits where it keeps the high byte of other kinds. */
  readonly clipsGray: boolean
  /** How long drawing takes cannot be told from the size: it may be seconds for a few bytes. */
  readonly complex: boolean
}

export const plain: Structure = { complete: true, buffered: false, clipsGray: false, complex: false }
export const incomplete: Structure = { ...plain, complete: false }
