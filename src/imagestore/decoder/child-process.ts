import { fork, type ChildProcess } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import type { FromChild, JobOutcome, ToChild } from './messages.ts'
import { WorkTimer } from './work-timer.ts'

/** How a job left its process. `started` is false when the process never came up, which says nothing about the image. */
export type Ending =
  /** `swollen`: the process is to take no other job. */
  | { readonly type: 'done'; readonly outcome: JobOutcome; readonly swollen: boolean }
  | { readonly type: 'timeout' }
  | { readonly type: 'crash'; readonly started: boolean }

export interface Run {
  readonly job: Extract<ToChild, { type: 'job' }>
  /** Of processor time. */
  readonly timeoutMs: number
  /** Called when the process is up and the job begins. */
  readonly onBegin: () => void
  /** Called when the job asks for memory: must end in one `verdict`. */
  readonly onCost: (bytes: number, heavy: boolean) => void
  readonly onEnd: (ending: Ending) => void
}

/** Blocks from this size on go back to the system as soon as they are free; left to itself, glibc soon keeps far larger ones. */
const MAPPED_BYTES = String(1024 * 1024)
/** Little of the work is JavaScript: a small young generation and no threads for the garbage, 6 MB less each. */
const SMALL_HEAP = [
  '--max-old-space-size=256',
  '--max-semi-space-size=1',
  '--single-threaded-gc',
  '--v8-pool-size=1',
]
const START_TIMEOUT_MS = 15_000
const file = new URL(`./child${extname(import.meta.url)}`, import.meta.url)

/** Where compiled code is kept, if anywhere: a child without it takes 20 MB more, and thrice the time to start. */
function compiled(): Readonly<Record<string, string>> {
  const folder = getCompileCacheDir?.()
  // What is told is a folder for this very Node below the one that was named.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}

/** One decoding process. Its first job waits inside for the start; ended for good once `onExit` has been called. */
export class DecoderProcess {
  readonly #process: ChildProcess
  readonly #exited: Promise<void>
  #run: Run | undefined
  readonly #timer = new WorkTimer()
  #ready = false
  #killedForTime = false

  constructor(onExit: (child: DecoderProcess) => void) {
    this.#process = fork(file, {
      serialization: 'advanced',
      execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning', ...SMALL_HEAP],
      // glibc's per-thread arenas keep freed pixels otherwise. Nothing else is passed on: secrets stay out of the decoder.
      env: {
        ...compiled(),
        MALLOC_ARENA_MAX: '1',
        MALLOC_MMAP_THRESHOLD_: MAPPED_BYTES,
        MALLOC_TRIM_THRESHOLD_: MAPPED_BYTES,
      },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#exited = new Promise((resolve) => {
      const ended = (): void => {
        this.#finish(
          this.#killedForTime && this.#ready ? { type: 'timeout' } : { type: 'crash', started: this.#ready },
        )
        onExit(this)
        resolve()
      }
      this.#process.once('exit', ended)
      // `exit` does not follow when the process could not be started at all.
      this.#process.on('error', () => {
        if (this.#process.pid === undefined) ended()
        else void this.kill()
      })
    })
    // Only our own child speaks on this channel.
    this.#process.on('message', (message: FromChild) => this.#receive(message))
    this.#process.unref()
    this.#process.channel?.unref()
    this.#startTimer(START_TIMEOUT_MS)
  }

  get pid(): number | undefined {
    return this.#process.pid
  }

  start(run: Run): void {
    this.#run = run
    // The process keeps the event loop alive only while somebody waits for it.
    this.#process.ref()
    this.#process.channel?.ref()
    if (this.#ready) this.#begin(run)
  }

  verdict(admitted: boolean): void {
    this.#send({ type: 'verdict', admitted })
    if (this.#run !== undefined) this.#startTimer(this.#run.timeoutMs)
  }

  kill(): Promise<void> {
    this.#process.ref()
    this.#process.kill('SIGKILL')
    return this.#exited
  }

  #begin(run: Run): void {
    this.#send(run.job)
    run.onBegin()
    this.#startTimer(run.timeoutMs)
  }

  #receive(message: FromChild): void {
    switch (message.type) {
      case 'ready':
        this.#ready = true
        this.#timer.stop()
        if (this.#run !== undefined) this.#begin(this.#run)
        return
      case 'cost':
        this.#timer.stop()
        this.#run?.onCost(message.bytes, message.heavy)
        return
      case 'done':
        this.#finish(message)
    }
  }

  #finish(ending: Ending): void {
    this.#timer.stop()
    const run = this.#run
    this.#run = undefined
    this.#process.unref()
    this.#process.channel?.unref()
    run?.onEnd(ending)
  }

  #startTimer(ms: number): void {
    this.#timer.start(this.#process.pid, ms, () => {
      this.#killedForTime = true
      this.#process.kill('SIGKILL')
    })
  }

  #send(message: ToChild): void {
    // A failed send means that the process is ending: `exit` follows.
    this.#process.send(message, () => undefined)
  }
}
