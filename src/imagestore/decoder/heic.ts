import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import { RejectedImage } from './rejected-image.ts'

const WASM_PAGE_BYTES = 65_536
/** For libheif itself. */
const WASM_BASE_BYTES = 64 * 1024 * 1024
/** Measured: 9 for samples of 8 bits. */
const WASM_BYTES_PER_PIXEL = 16

/** What is used of libheif. Handles are opaque. */
interface LibHeif {
  readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown }
  readonly heif_chroma: {
    readonly heif_chroma_interleaved_RGB: unknown
    readonly heif_chroma_interleaved_RGBA: unknown
  }
  heif_context_alloc(): unknown
  heif_context_read_from_memory(context: unknown, bytes: Uint8Array): unknown
  heif_js_context_get_primary_image_handle(context: unknown): unknown
  heif_js_decode_image2(handle: unknown, space: unknown, chroma: unknown): DecodedHeic | HeifError
}

interface DecodedHeic {
  readonly message?: never
  readonly channels: readonly { width: number; height: number; stride: number; data: Uint8Array }[]
}

interface HeifError {
  readonly channels?: never
  readonly message: string
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

/**
 * Decodes the main picture of a HEIC, upright. Its pixels are in memory of libheif.
 * @param size of the picture in pixels
 * @throws RejectedImage
 */
export function decodeHeic(
  bytes: Buffer,
  {
    width,
    height,
    hasAlpha,
  }: { readonly width: number; readonly height: number; readonly hasAlpha: boolean },
): Pixels {
  isLoaded = true
  const memory = WASM_BASE_BYTES + width * height * WASM_BYTES_PER_PIXEL
  setFlagsFromString(`--wasm-max-mem-pages=${Math.ceil(memory / WASM_PAGE_BYTES)}`)
  const libheif: LibHeif = require('libheif-js/wasm-bundle.js')
  const { heif_colorspace_RGB } = libheif.heif_colorspace
  const { heif_chroma_interleaved_RGB, heif_chroma_interleaved_RGBA } = libheif.heif_chroma
  const context = libheif.heif_context_alloc()
  libheif.heif_context_read_from_memory(context, bytes)
  const handle = libheif.heif_js_context_get_primary_image_handle(context)
  const chroma = hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB
  const decoded = libheif.heif_js_decode_image2(handle, heif_colorspace_RGB, chroma)
  const [plane] = decoded.channels ?? []
  if (plane === undefined) throw new RejectedImage(`heic: ${decoded.message ?? 'no picture'}`, 'damaged')
  if (plane.width !== width || plane.height !== height) throw new RejectedImage('heic: two sizes', 'damaged')
  const channels = hasAlpha ? 4 : 3
  return asPixels(withoutPadding(plane.data, width * channels, plane.stride), width, height, channels)
}

function withoutPadding(data: Uint8Array, rowBytes: number, stride: number): Uint8Array {
  if (stride === rowBytes) return data
  for (let from = stride, to = rowBytes; from < data.length; from += stride, to += rowBytes)
    data.copyWithin(to, from, from + rowBytes)
  return data
}
