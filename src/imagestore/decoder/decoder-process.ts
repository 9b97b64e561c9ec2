import type { ImageFormat } from '../../lib/image-metadata/index.ts'
import type { ResolvedTransformation } from '../modifiers/index.ts'
import type { BlobRow } from '../image-fields.ts'
import type { WatermarkPlacement } from '../definitions.ts'
import { spawn, type ChildProcess } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * What is wrong with an upload, as answers name it: no accepted type, damaged, or too much to decode within the limits.
 */
export type ImageFault = 'format' | 'damaged' | 'too_many_pixels'

/** `reason` is for the log, never for a client. */
interface Damaged {
  readonly kind: 'damaged'
  readonly fault: ImageFault
  readonly reason: string
}

/** An image of which every pixel of every frame has been decoded. */
export interface InspectedImage extends Omit<BlobRow, 'hash' | 'key' | 'size'> {
  readonly kind: 'image'
  readonly format: ImageFormat
  readonly thumbhash: string
}

/** An image as it is sent. */
export interface Rendered {
  readonly bytes: Uint8Array
  readonly mime: string
}

export interface DerivedImage extends Rendered {
  readonly kind: 'image'
}

/** It exceeds the limits on memory or time, as expected from its header or found out. `reason` is for the log. */
interface TooHeavy {
  readonly kind: 'too-heavy'
  readonly reason: string
  /** Memory ran out. Earlier images of the process may be to blame: a fresh one tells. */
  readonly isOutOfMemory?: boolean
}

/** `busy`: the queue is full, the wait timed out or the process never came up; try later. `aborted`: the signal fired first. */
type NotRun = { readonly kind: 'busy' } | { readonly kind: 'aborted' }
/** `too-slow`: killed when its time was up. `crashed`: two processes in a row ended because of it. */
type Killed = { readonly kind: 'too-slow' } | { readonly kind: 'crashed' }

/** Images that are too heavy or too slow, or crash their process, count as damaged. */
export type Inspection = InspectedImage | Damaged | NotRun
export type Derivation = DerivedImage | Damaged | TooHeavy | Killed | NotRun

export interface WatermarkFile {
  readonly path: string
  readonly place: WatermarkPlacement
}

export type Task =
  | { readonly operation: 'inspect' }
  | {
      readonly operation: 'derive'
      readonly plan: ResolvedTransformation
      readonly watermark: WatermarkFile | undefined
    }

export interface Job {
  readonly path: string
  readonly task: Task
  readonly maxPixels: number
  readonly timeoutMs: number
  readonly largestJob: number
  /** Bytes of memory that it may take. */
  readonly granted: number
}

/** The job was not started, because it needs more memory than it was granted. */
export interface Needs {
  readonly kind: 'needs'
  readonly bytes: number
}

export type JobOutcome = InspectedImage | DerivedImage | Damaged | TooHeavy
export type PoolOutcome = JobOutcome | Killed | NotRun

export type FromDecoder =
  | 'ready'
  /** `isBloated`: the process retains so much memory that it should be replaced. */
  | { readonly outcome: JobOutcome | Needs; readonly isBloated: boolean }

interface Run {
  readonly job: Job
  readonly onEnd: (outcome: PoolOutcome | Needs) => void
}

/** glibc returns freed blocks from this size on to the system. Its own threshold adapts and soon retains far larger ones. */
const MMAP_THRESHOLD = String(1024 * 1024)
/** The process runs little JavaScript: a small young generation and no collector threads save 6 MB. */
const V8_FLAGS = [
  '--max-old-space-size=256',
  '--max-semi-space-size=1',
  '--single-threaded-gc',
  '--v8-pool-size=1',
  // 128 MiB, enough to hash rows of 4 million pixels. V8 reserves addresses for as much as a module may use, by default 4 GiB.
  '--wasm-max-mem-pages=2048',
]
const START_TIMEOUT_MS = 15_000
/** Address space for Node and the image library themselves, which reserve 1.2 to 1.4 GiB and use a fifteenth of it. */
const BASE_MIB = 1_536
const modulePath = fileURLToPath(new URL(`./child${extname(import.meta.url)}`, import.meta.url))

/**
 * The command that starts a process. On Linux the system limits its address space: allocations then fail, in JavaScript and in
 * native code alike, also while nothing else of the process can run.
 * @param memory bytes that an image may take
 */
function decoderCommand(memory: number): readonly [program: string, ...args: string[]] {
  const node = ['--expose-gc', '--disable-warning=ExperimentalWarning', ...V8_FLAGS, modulePath]
  if (process.platform !== 'linux') return [process.execPath, ...node]
  const kib = Math.ceil(memory / 1024) + BASE_MIB * 1024
  // A lower limit that is in force stays.
  return ['/bin/sh', '-c', 'ulimit -v "$0" 2>/dev/null; exec "$@"', String(kib), process.execPath, ...node]
}

/** Passes on the compile cache, if there is one: without it a process takes 20 MB more and three times as long to start. */
function compileCache(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir?.()
  // This is the folder of this Node version, below the configured one.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** A decoder process. Its first job waits until it is ready. Unusable once `onExit` has been called. */
export class DecoderProcess {
  readonly #process: ChildProcess
  readonly #exited: Promise<void>
  #timer: NodeJS.Timeout | undefined
  #run: Run | undefined
  #isReady = false
  #isTimedOut = false
  /** Whether the process can run another job. */
  isReusable = true

  /** @param memory bytes that an image may take */
  constructor(memory: number, onExit: (process: DecoderProcess) => void) {
    const [program, ...args] = decoderCommand(memory)
    this.#process = spawn(program, args, {
      serialization: 'advanced',
      // Per-thread arenas of glibc would retain freed pixels. Nothing else is passed on: secrets stay out of the decoder.
      env: {
        ...compileCache(),
        MALLOC_ARENA_MAX: '1',
        MALLOC_MMAP_THRESHOLD_: MMAP_THRESHOLD,
        MALLOC_TRIM_THRESHOLD_: MMAP_THRESHOLD,
      },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#exited = new Promise((resolve) => {
      const end = (): void => {
        this.isReusable = false
        // A process that never came up says nothing about the image.
        if (!this.#isReady) this.#finish({ kind: 'busy' })
        else this.#finish({ kind: this.#isTimedOut ? 'too-slow' : 'crashed' })
        onExit(this)
        resolve()
      }
      this.#process.once('exit', end)
      // `exit` is not emitted if the process could not be started at all.
      this.#process.on('error', () => {
        if (this.#process.pid === undefined) end()
        else void this.kill()
      })
    })
    // Only our own child sends on this channel.
    this.#process.on('message', (message: FromDecoder) => this.#receive(message))
    this.#unref()
    this.#startTimer(START_TIMEOUT_MS)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  run(job: Job): Promise<PoolOutcome | Needs> {
    return new Promise((onEnd) => {
      this.#run = { job, onEnd }
      // The process keeps the event loop alive only while it has a job.
      this.#process.ref()
      this.#process.channel?.ref()
      if (this.#isReady) this.#begin(job)
    })
  }

  kill(): Promise<void> {
    this.#process.ref()
    this.#process.kill('SIGKILL')
    return this.#exited
  }

  #begin(job: Job): void {
    // A failed send means that the process is exiting; `exit` follows.
    this.#process.send(job, () => undefined)
    this.#startTimer(job.timeoutMs)
  }

  #receive(message: FromDecoder): void {
    if (message !== 'ready') {
      this.isReusable = !message.isBloated
      return this.#finish(message.outcome)
    }
    this.#isReady = true
    clearTimeout(this.#timer)
    if (this.#run !== undefined) this.#begin(this.#run.job)
  }

  #finish(outcome: PoolOutcome | Needs): void {
    clearTimeout(this.#timer)
    const run = this.#run
    this.#run = undefined
    this.#unref()
    run?.onEnd(outcome)
  }

  #unref(): void {
    this.#process.unref()
    this.#process.channel?.unref()
  }

  #startTimer(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#isTimedOut = true
      this.#process.kill('SIGKILL')
    }, ms).unref()
  }
}
