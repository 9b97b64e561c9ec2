import { hostname } from 'node:os'
import { pid } from 'node:process'
import { pino, type Logger } from 'pino'

/** Lines are written when this much text or time has accumulated. */
const FLUSH_LENGTH = 32_768
const FLUSH_MS = 250
/**
 * If several processes write to one pipe, only writes up to this size are atomic (PIPE_BUF of POSIX, on Linux). A longer line,
 * such as a stack trace, may be interleaved.
 */
const ATOMIC_WRITE_BYTES = 4_096

/** Buffers log lines: one write per line would cost as much as a small answer. */
class BufferedOutput {
  readonly #isShared: boolean
  #lines = ''
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** @param isShared other processes write to the same pipe */
  constructor(isShared: boolean) {
    this.#isShared = isShared
  }

  write(line: string): void {
    if (this.#isShared) {
      const bytes = Buffer.byteLength(line)
      if (this.#bytes + bytes > ATOMIC_WRITE_BYTES) this.flush()
      this.#bytes += bytes
    }
    this.#lines += line
    if (this.#lines.length >= FLUSH_LENGTH) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref()
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
 * Creates the service's log: JSON lines on standard output, flushed when the process exits.
 * @param worker the number of this process if there are several
 */
export function createLog(level: string, worker?: number): Logger {
  const output = new BufferedOutput(worker !== undefined)
  process.once('exit', () => output.flush())
  const base = { pid, hostname: hostname() }
  return pino({ level, base: worker === undefined ? base : { ...base, worker } }, output)
}
