import { complete, KeptRanges, truncated, type Structure } from './container.ts'

const EXTENSION = 0x21
const IMAGE = 0x2c
const TRAILER = 0x3b
const GRAPHIC_CONTROL = 0xf9
const APPLICATION = 0xff
/** The loop count of an animation, and its colour profile. */
const KEPT_APPLICATIONS = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012'])

export interface GifBlock {
  readonly type: 'extension' | 'image' | 'trailer'
  readonly start: number
  readonly end: number
}

/** Yields the blocks up to the trailer. Stops earlier at the end of the file, or where no block begins. */
export function* gifBlocks(gif: Buffer): Generator<GifBlock> {
  for (let start = headerBytes(gif); start < gif.length;) {
    const introducer = gif[start]
    if (introducer === TRAILER) yield { type: 'trailer', start, end: start + 1 }
    if (introducer !== EXTENSION && introducer !== IMAGE) return
    const end =
      introducer === EXTENSION
        ? subBlocksEnd(gif, start + 2)
        : subBlocksEnd(gif, start + 11 + colourTableBytes(gif[start + 9] ?? 0))
    yield { type: introducer === EXTENSION ? 'extension' : 'image', start, end }
    start = end
  }
}

export const isGraphicControl = (gif: Buffer, { type, start }: GifBlock): boolean =>
  type === 'extension' && gif[start + 1] === GRAPHIC_CONTROL

/** Bytes of a colour table, from the packed field that declares it. */
export const colourTableBytes = (packed: number): number => (packed & 0x80 ? 3 << ((packed & 7) + 1) : 0)

const headerBytes = (gif: Buffer): number => 13 + colourTableBytes(gif[10] ?? 0)

/** The end of the sub-blocks at `at`; past the end of the file if they are cut. */
function subBlocksEnd(bytes: Buffer, at: number): number {
  let length = bytes[at]
  while (length !== undefined && length !== 0) {
    at += length + 1
    length = bytes[at]
  }
  return at + 1
}

export function gifStructure(bytes: Buffer): Structure {
  for (const { type } of gifBlocks(bytes)) if (type === 'trailer') return complete
  return truncated
}

/** Keeps images, graphic control, loop count and colour profile; drops comments, text and other extensions. */
export function stripGif(bytes: Buffer): Buffer | undefined {
  const kept = new KeptRanges()
  kept.add(0, headerBytes(bytes))
  for (const block of gifBlocks(bytes)) {
    const { type, start, end } = block
    const isApplication = type === 'extension' && bytes[start + 1] === APPLICATION
    const isKept =
      type !== 'extension' ||
      isGraphicControl(bytes, block) ||
      (isApplication && KEPT_APPLICATIONS.has(bytes.toString('latin1', start + 3, start + 14)))
    if (isKept) kept.add(start, end)
    if (type === 'trailer') return kept.copy(bytes)
  }
  return undefined
}
