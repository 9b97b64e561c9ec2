import type { ImageFormat } from '../../lib/image-metadata/index.ts'
import { copiesOutput, type ResolvedTransformation } from '../modifiers/index.ts'
import { areaOf, geometryOf, outputFormat, staysAnimated } from './output.ts'
import { type Source, openSource, readImageFile, RejectedImage } from './source.ts'
import { flushCompileCache } from 'node:module'
import { constants, getPriority, setPriority } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import sharp from 'sharp'
import { deriveImage } from './derive.ts'
import { hasDecodedHeic, transcode } from './foreign-formats.ts'
import { inspectSource } from './inspect.ts'
import type { FromDecoder, Job, JobOutcome, Needs } from './decoder-process.ts'
import { asError } from '../../lib/errors.ts'
/**
 * Peak bytes of memory per pixel of a whole decode, including the raw output. Measured as growth of the resident set for
 * images of 24 megapixels (`buffered`: interlaced PNG, progressive JPEG), rounded up.
 */
const DECODE_BYTES_PER_PIXEL = {
  jpeg: { streamed: 5, buffered: 13 },
  png: { streamed: 8, buffered: 13 },
  gif: { streamed: 10, buffered: 10 },
  webp: { streamed: 16, buffered: 16 },
  avif: { streamed: 24, buffered: 24 },
  tiff: { streamed: 10, buffered: 10 },
  svg: { streamed: 10, buffered: 10 },
  bmp: { streamed: 16, buffered: 16 },
  heic: { streamed: 24, buffered: 24 },
} as const satisfies Record<ImageFormat, { streamed: number; buffered: number }>

/** The decoder's tables and whatever else does not depend on the pixels. */
const FIXED_BYTES = 8 * 1024 * 1024
/** Factor for samples of more than 8 bits. */
const DEEP_FACTOR = 1.5
/** Applying an orientation needs a second copy of all pixels. */
const ORIENTATION_BYTES_PER_PIXEL = 4
const AVIF_ENCODE_BYTES_PER_PIXEL = 40
/** AVIF takes as long as the other formats with eight times the pixels. */
const AVIF_WEIGHT_PER_PIXEL = 8 * 12
const ENCODE_BYTES_PER_PIXEL = 12
/** For the finished picture, which is kept while several encoders read it. */
const FINISHED_BYTES_PER_PIXEL = 8
/** For the picture and its copy while `q_auto` scores them, and for the coarse scales of both. */
const SCORED_BYTES_PER_PIXEL = 20
/** For the fine scales of a part of them. */
const SCORED_BYTES = 48 * 1024 * 1024

/**
 * Seconds to write an animation on a common core, per frame and per pixel. Measured; the content can halve or double it.
 */
const ANIMATION_SECONDS = {
  webp: { frame: 0.8e-3, pixel: 0.2e-6 },
  gif: { frame: 1e-3, pixel: 0.6e-6 },
} as const

/** What a job is expected to take. */
interface Cost {
  /** Peak memory. */
  readonly bytes: number
  /** Share of the memory of all jobs that is set aside, which is more than `bytes` for a job that takes long. */
  readonly weight: number
  /** Processor time, where it can be estimated: of animations. */
  readonly seconds: number
}

function decodeCost(source: Source): Cost {
  const { format, structure, metadata } = source
  const perPixel = DECODE_BYTES_PER_PIXEL[format][structure.buffered ? 'buffered' : 'streamed']
  const orientation = (metadata.orientation ?? 1) > 1 ? ORIENTATION_BYTES_PER_PIXEL : 0
  const depth = metadata.depth === 'uchar' ? 1 : DEEP_FACTOR
  const pixels = Math.max(source.storedWidth * source.storedHeight * source.frames, source.screenPixels)
  const bytes = FIXED_BYTES + source.bytes.length + pixels * (perPixel + orientation) * depth
  return { bytes, weight: bytes, seconds: 0 }
}

function deriveCost(source: Source, plan: ResolvedTransformation): Cost {
  const format = outputFormat(plan, source)
  const isAnimated = staysAnimated(plan, source, format)
  const frames = isAnimated ? source.frames : 1
  const { canvas } = geometryOf(plan, areaOf(plan, source) ?? source)
  const outputPixels = canvas.width * canvas.height
  const isKept = plan.accepted !== null || plan.quality === 'auto' || copiesOutput(plan) || format === 'png'
  const decodeBytes = decodeCost({ ...source, frames }).bytes
  const pixels = outputPixels * frames
  const scoredBytes = plan.quality === 'auto' ? SCORED_BYTES + pixels * SCORED_BYTES_PER_PIXEL : 0
  const keptBytes = scoredBytes + (isKept ? pixels * FINISHED_BYTES_PER_PIXEL : 0)
  const isAvif = format === 'avif'
  const encodeBytes = pixels * (isAvif ? AVIF_ENCODE_BYTES_PER_PIXEL : ENCODE_BYTES_PER_PIXEL)
  const bytes = decodeBytes + keptBytes + encodeBytes
  const weight = isAvif ? decodeBytes + keptBytes + pixels * AVIF_WEIGHT_PER_PIXEL : bytes
  if (!isAnimated || (format !== 'webp' && format !== 'gif')) return { bytes, weight, seconds: 0 }
  const { frame, pixel } = ANIMATION_SECONDS[format]
  return { bytes, weight, seconds: frames * (frame + outputPixels * pixel) }
}

/** The main module of a decoder process. It runs one job at a time and may be killed at any moment. */

const MIB = 1024 * 1024
/** Above this, garbage is collected after a job: raw pixels are outside the heap, where V8 does not notice them. */
const MINOR_COLLECTION_BYTES = 20 * MIB
/** Objects that survive a minor collection stay until they take this much. */
const MAJOR_COLLECTION_BYTES = 40 * MIB
/** A process that decoded photographs stays well below this; allocators return only part of what large images took. */
const BLOATED_BYTES = 208 * MIB
/** Buffer for the files of successive jobs: most photographs fit. Untouched pages take no memory. */
const FILE_BUFFER_BYTES = 8 * MIB
const MAX_REASON_LENGTH = 300
/** What V8, libvips and the libraries below it say when the system refuses memory, some of them of a damaged file. */
const OUT_OF_MEMORY =
  /out of memory|insufficient memory|allocation failed|could not allocate|bad_alloc|unable to grow/i
/** What sharp says of more pixels than its limit. */
const TOO_MANY_PIXELS = /exceeds pixel limit/
/** Share of the memory of the largest job that is set aside for a job whose header does not tell what it takes. */
const COMPLEX_SHARE = 3 / 4
/** Jobs expected to take more processor time than this share of their time limit are rejected: on a busy machine they take far longer. */
const MAX_TIME_SHARE = 0.15
/** How far below the parent's priority: answers to clients come before pixels when cores are short. */
const NICENESS = 5

setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICENESS))
sharp.concurrency(1)
sharp.cache(false)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Heif', 'Tiff', 'Svg'].map((name) => `VipsForeignLoad${name}`),
})

const fileBuffer = Buffer.allocUnsafeSlow(FILE_BUFFER_BYTES)
const send = (message: FromDecoder): void => {
  process.send?.(message)
}

async function run({
  path,
  task,
  maxPixels,
  timeoutMs,
  largestJob,
  granted,
}: Job): Promise<JobOutcome | Needs> {
  try {
    const isInspection = task.operation === 'inspect'
    const image = readImageFile(path, fileBuffer)
    const file = isInspection ? undefined : task.watermark
    const mark = file && { image: readImageFile(file.path), place: file.place }
    const isComplex = image.structure.complex || mark?.image.structure.complex === true
    const least = isComplex ? Math.floor(largestJob * COMPLEX_SHARE) : 0
    // Before the header, which alone may take seconds.
    if (least > granted) return { kind: 'needs', bytes: least }
    const source = await openSource(image, maxPixels)
    const watermark = mark && { source: await openSource(mark.image, maxPixels), place: mark.place }
    const cost = isInspection ? decodeCost(source) : deriveCost(source, task.plan)
    if (cost.seconds > (timeoutMs / 1_000) * MAX_TIME_SHARE)
      return { kind: 'too-heavy', reason: `would take ${Math.round(cost.seconds)} s` }
    const ofMark = watermark === undefined ? 0 : decodeCost(watermark.source).bytes
    const bytes = cost.bytes + ofMark
    if (bytes > largestJob) return { kind: 'too-heavy', reason: `needs ${bytes} bytes to decode` }
    const weight = Math.max(least, cost.weight + ofMark)
    if (weight > granted) return { kind: 'needs', bytes: weight }
    const picture = await transcode(source)
    if (isInspection) return await inspectSource(picture)
    const put = watermark && { ...watermark, source: await transcode(watermark.source) }
    return await deriveImage(picture, task.plan, put)
  } catch (error) {
    const reason = asError(error).message.slice(0, MAX_REASON_LENGTH)
    if (OUT_OF_MEMORY.test(reason)) return { kind: 'too-heavy', reason, isOutOfMemory: true }
    const found = TOO_MANY_PIXELS.test(reason) ? 'too_many_pixels' : 'damaged'
    const fault = error instanceof RejectedImage ? error.fault : found
    return { kind: 'damaged', fault, reason }
  }
}

/** Sharp's buffers are freed by finalizers, in a turn of the event loop of their own. */
async function collectGarbage(type: 'minor' | 'major'): Promise<void> {
  globalThis.gc?.({ type })
  await setImmediate()
}

// Only the parent sends on this channel.
process.on('message', (job: Job) => {
  void run(job).then(async (outcome) => {
    // Not `arrayBuffers`, which does not include sharp's buffers.
    if (process.memoryUsage().external > MINOR_COLLECTION_BYTES) await collectGarbage('minor')
    if (process.memoryUsage().external > MAJOR_COLLECTION_BYTES) await collectGarbage('major')
    const isOutOfMemory = outcome.kind === 'too-heavy' && outcome.isOutOfMemory === true
    const isBloated = isOutOfMemory || hasDecodedHeic() || process.memoryUsage.rss() > BLOATED_BYTES
    send({ outcome, isBloated })
  })
})

// An orphan ends immediately; an orderly exit would wait for the decoder's thread.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// Signals to the process group are for the parent, which may still need results while it stops.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)

send('ready')
// Node writes its compile cache at an orderly exit, which never happens here. Without the cache each process would hold a
// TypeScript compiler, 20 MB, for the rest of its life. Does nothing if everything is cached, or no cache is configured.
flushCompileCache()
