import { pino, type Logger } from 'pino'

/**
 * Lines are buffered: one write per line would cost as much as a small answer. If several processes write to one pipe, only
 * writes up to this size are atomic (PIPE_BUF of POSIX, on Linux). A longer line, such as a stack trace, may be interleaved.
 */
const ATOMIC_WRITE_BYTES = 4_096
const FLUSH_MS = 250

/** Not `pino.destination`, whose flush at the exit never ends on a full disk (sonic-boom 4.2). */
function bufferedOutput() {
  let lines = ''
  let bytes = 0
  let timer: NodeJS.Timeout | undefined
  function flush(written = () => {}): void {
    clearTimeout(timer)
    timer = undefined
    process.stdout.write(lines, () => written())
    lines = ''
    bytes = 0
  }
  function write(line: string): void {
    const length = Buffer.byteLength(line)
    if (bytes + length > ATOMIC_WRITE_BYTES) flush()
    lines += line
    bytes += length
    timer ??= setTimeout(flush, FLUSH_MS).unref()
  }
  return { write, flush }
}

/**
 * Creates the service's log: JSON lines on standard output, flushed when the process exits.
 * @param worker the number of this process if there are several
 */
export function createLog(level: string, worker?: number): Logger {
  const output = bufferedOutput()
  process.once('exit', () => output.flush())
  const log = pino({ level }, output)
  return worker === undefined ? log : log.child({ worker })
}
