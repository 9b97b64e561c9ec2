import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import { RejectedImage } from './protocol.ts'

const WASM_PAGE_BYTES = 65_536
/** For libheif itself. */
const WASM_BASE_BYTES = 64 * 1024 * 1024
/** Measured: 9 for samples of 8 bits. */
const WASM_BYTES_PER_PIXEL = 16
const CHANNELS = 4

/** What is used of libheif-js. */
interface LibHeif {
  readonly HeifDecoder: new () => { decode(bytes: Uint8Array): readonly HeifImage[] }
}

interface HeifImage {
  is_primary(): boolean
  get_width(): number
  get_height(): number
  /** Fills `target` with red, green, blue and alpha. Calls back with null if that fails. */
  display(target: { readonly data: Uint8Array }, done: (filled: object | null) => void): void
}

const require = createRequire(import.meta.url)
let isLoaded = false

/** Whether this process has decoded a HEIC. It must not decode another one: memory of WebAssembly never shrinks. */
export const hasDecodedHeic = (): boolean => isLoaded

/** Whether libheif-js is there, which operators install themselves: HEVC is patented. */
export function isHeicSupported(): boolean {
  try {
    require.resolve('libheif-js/wasm-bundle.js')
    return true
  } catch {
    return false
  }
}

interface HeicSize {
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/** Decodes the main picture of a HEIC, upright, to red, green, blue and alpha. @throws RejectedImage */
export async function decodeHeic(bytes: Buffer, { width, height }: HeicSize): Promise<Pixels> {
  isLoaded = true
  // Otherwise V8 reserves more addresses for WebAssembly than this process may have.
  const memory = WASM_BASE_BYTES + width * height * WASM_BYTES_PER_PIXEL
  setFlagsFromString(`--wasm-max-mem-pages=${Math.ceil(memory / WASM_PAGE_BYTES)}`)
  const { HeifDecoder }: LibHeif = require('libheif-js/wasm-bundle.js')
  const image = new HeifDecoder().decode(bytes).find((one) => one.is_primary())
  if (image === undefined) throw new RejectedImage('heic: no picture', 'damaged')
  if (image.get_width() !== width || image.get_height() !== height)
    throw new RejectedImage('heic: two sizes', 'damaged')
  const data = Buffer.alloc(width * height * CHANNELS)
  const filled = await new Promise((resolve) => image.display({ data }, resolve))
  if (filled === null) throw new RejectedImage('heic: the picture cannot be decoded', 'damaged')
  return asPixels(data, width, height, CHANNELS)
}
