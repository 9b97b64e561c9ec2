import { hostname } from 'node:os'
import { pid } from 'node:process'
import { pino, type Logger } from 'pino'

/** So much text is gathered before it is written, or so long. */
const GATHERED_LENGTH = 32_768
/**
 * Where several processes write to one pipe, only writes up to this size (POSIX's PIPE_BUF, on Linux) are never torn apart. A
 * single line that is longer, such as a fault's stack, may be.
 */
const WHOLE_BYTES = 4_096
const GATHERED_MS = 250

/**
 * Lines on their way to standard output, some kilobytes at a time: a write of its own for each would cost as
 * much as a small answer. What is gathered leaves when the process does.
 */
class GatheredOutput {
  readonly #isShared: boolean
  #lines = ''
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** @param isShared other processes write to the same place */
  constructor(isShared: boolean) {
    this.#isShared = isShared
  }

  write(line: string): void {
    if (this.#isShared) {
      const bytes = Buffer.byteLength(line)
      if (this.#bytes + bytes > WHOLE_BYTES) this.flush()
      this.#bytes += bytes
    }
    this.#lines += line
    if (this.#lines.length >= GATHERED_LENGTH) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), GATHERED_MS).unref()
  }

  flush(written?: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines
    this.#lines = ''
    this.#bytes = 0
    process.stdout.write(lines, () => written?.())
  }
}

/**
 * The service's log: JSON lines on standard output.
 * @param worker which of several processes this is
 */
export function createLog(level: string, worker?: number): Logger {
  const output = new GatheredOutput(worker !== undefined)
  process.once('exit', () => output.flush())
  const base = { pid, hostname: hostname() }
  return pino({ level, base: worker === undefined ? base : { ...base, worker } }, output)
}
