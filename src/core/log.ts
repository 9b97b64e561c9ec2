import { pino, type Logger } from 'pino'

/** So much text is gathered before it is written, or so long. */
const GATHERED_LENGTH = 8_192
const GATHERED_MS = 250

/**
 * Lines on their way to standard output, a few kilobytes at a time: a write of its own for each would cost as
 * much as a small answer. What is gathered leaves when the process does.
 */
class GatheredOutput {
  #lines = ''
  #timer: NodeJS.Timeout | undefined

  write(line: string): void {
    this.#lines += line
    if (this.#lines.length >= GATHERED_LENGTH) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), GATHERED_MS).unref()
  }

  flush(written?: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#lines
    this.#lines = ''
    process.stdout.write(lines, () => written?.())
  }
}

/** The service's log: JSON lines on standard output. */
export function createLog(level: string): Logger {
  const output = new GatheredOutput()
  process.once('exit', () => output.flush())
  return pino({ level }, output)
}
