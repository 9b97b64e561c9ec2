/** The process that decodes: forked by child-process.ts, one job at a time. It may be killed at any moment. */
import { flushCompileCache } from 'node:module'
import { setPriority } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import sharp from 'sharp'
import { decodeCost, deriveCost, deriveSeconds, outputPixels } from './cost.ts'
import { deriveImage } from './derive.ts'
import { startMemoryGuard } from './memory-guard.ts'
import type { MarkSource } from './mark.ts'
import type { FromChild, JobOutcome, Mark, ToChild } from './messages.ts'
import { AlteredImage, openSource, RefusedImage } from './source.ts'

/** Past this, garbage is collected after a job: raw pixels live outside the heap, where they would pile up unseen. */
const COLLECT_PAST_BYTES = 20 * 1024 * 1024
/** What outlived a quick collection is left until it is so much. */
const COLLECT_ALL_PAST_BYTES = 40 * 1024 * 1024
/** What a process keeps after photographs is well below: allocators give back what large images took only in part. */
const SWOLLEN_BYTES = 208 * 1024 * 1024
/** Kept for the files of one job after the other: most photographs fit. The system gives it as it is first written to. */
const ROOM_BYTES = 8 * 1024 * 1024
/** What reading a header may take: an SVG is parsed whole for it. */
const HEADER_BYTES = 128 * 1024 * 1024
const MAX_REASON = 300
/** A usual image needs less, and then takes less than a second. */
const HEAVY_BYTES = 192 * 1024 * 1024
/** As much can be told of the time beforehand. */
const HEAVY_SECONDS = 1
/** Larger outputs take about a second and more with effects, whatever they are made of. */
const HEAVY_PIXELS = 4_000_000
/** What is expected to need more of its time than this is not begun. */
const SURE_SHARE = 0.6
/** Below the parent's: answers to clients come before pixels when cores are short. */
const NICENESS = 5

type Job = Extract<ToChild, { type: 'job' }>

setPriority(NICENESS)
sharp.concurrency(1)
sharp.cache(false)
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Nsgif', 'Webp', 'Heif', 'Tiff', 'Svg'].map((name) => `VipsForeignLoad${name}`),
})

const guard = startMemoryGuard()
const room = Buffer.allocUnsafeSlow(ROOM_BYTES)
let answer: ((admitted: boolean) => void) | undefined

const send = (message: FromChild): void => {
  process.send?.(message)
}

function askFor(bytes: number, granted: number, complex: boolean): Promise<boolean> {
  if (bytes <= granted && !complex) return Promise.resolve(true)
  return new Promise((resolve) => {
    answer = resolve
    send({ type: 'cost', bytes, heavy: complex || bytes > HEAVY_BYTES })
  })
}

/**
 * Node writes down what it compiled when a process ends in order, which this one never does: each would compile it anew, and hold
 * a compiler of TypeScript, 20 MB, for the rest of its life. Does nothing where all is known, or none is kept.
 */
function keepCompiled(): void {
  flushCompileCache()
}

/** What it hashes with takes V8's compilers of WebAssembly: some megabytes that a process which only derives does without. */
const loadInspection = () => import('./inspect.ts').finally(keepCompiled)
let inspection: ReturnType<typeof loadInspection> | undefined

async function run({ path, task, maxPixels, timeoutMs, granted }: Job): Promise<JobOutcome> {
  guard.allow(HEADER_BYTES)
  try {
    const source = await openSource(path, maxPixels, room, 'hash' in task ? task.hash : undefined)
    const mark =
      task.operation === 'derive' && task.mark !== undefined ? await openMark(task.mark) : undefined
    const cost =
      (task.operation === 'inspect' ? decodeCost(source) : deriveCost(source, task.plan)) +
      (mark === undefined ? 0 : decodeCost(mark.source))
    const seconds = task.operation === 'inspect' ? 0 : deriveSeconds(source, task.plan)
    // On a machine that has other things to do it takes longer.
    if (seconds > (timeoutMs / 1_000) * SURE_SHARE)
      return { kind: 'too-heavy', reason: `would take ${Math.round(seconds)} s` }
    const pixels = task.operation === 'inspect' ? 0 : outputPixels(source, task.plan)
    const complex =
      source.structure.complex ||
      mark?.source.structure.complex === true ||
      seconds > HEAVY_SECONDS ||
      pixels > HEAVY_PIXELS
    if (!(await askFor(cost, granted, complex)))
      return { kind: 'too-heavy', reason: `needs ${cost} bytes to decode` }
    guard.allow(cost)
    if (task.operation === 'derive') return await deriveImage(source, task.plan, mark)
    inspection ??= loadInspection()
    const { inspectSource } = await inspection
    return await inspectSource(source)
  } catch (error) {
    const reason = error instanceof RefusedImage || error instanceof Error ? error.message : String(error)
    return { kind: 'damaged', reason: reason.slice(0, MAX_REASON), isAltered: error instanceof AlteredImage }
  }

  async function openMark({ path: markPath, place, hash }: Mark): Promise<MarkSource> {
    return { source: await openSource(markPath, maxPixels, undefined, hash), place }
  }
}

/** What was lent is given back by finalizers, in a turn of their own. */
async function collect(type: 'minor' | 'major'): Promise<void> {
  globalThis.gc?.({ type })
  await setImmediate()
}

// Only our own parent speaks on this channel.
process.on('message', (message: ToChild) => {
  if (message.type === 'verdict') {
    answer?.(message.admitted)
    answer = undefined
    return
  }
  void run(message).then(async (outcome) => {
    guard.rest()
    // Not `arrayBuffers`, which leaves out what the library lends.
    if (process.memoryUsage().external > COLLECT_PAST_BYTES) await collect('minor')
    if (process.memoryUsage().external > COLLECT_ALL_PAST_BYTES) await collect('major')
    send({ type: 'done', outcome, swollen: process.memoryUsage.rss() > SWOLLEN_BYTES })
  })
})

// An orphan ends at once, without waiting for the decoder's thread as an orderly exit would.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
// Signals to the whole group are the parent's to act on: it may still want answers while it stops.
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)

send({ type: 'ready' })
keepCompiled()
