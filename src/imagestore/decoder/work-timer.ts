import { readFileSync } from 'node:fs'

/** Linux tells programs of processor time in hundredths of a second, on whatever machine. */
const TICK_MS = 10
/**
 * By the clock it may take so many times longer. Where processors are short honest work gets by; what sleeps or hangs is
 * stopped in the end.
 */
const PATIENCE = 4
/** Not to look again and again shortly before the end. */
const MIN_WAIT_MS = 50

/** Milliseconds of processors that a process has taken so far, all its threads together; undefined where nobody tells. */
function workedMs(pid: number | undefined): number | undefined {
  try {
    const told = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // proc(5): the name, in brackets, may hold anything; user and system time are the 12th and 13th field behind it.
    const fields = told.slice(told.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return undefined
  }
}

/** Tells when a process has worked for so long: by its processor time on Linux, elsewhere by the clock alone. */
export class WorkTimer {
  #timer: NodeJS.Timeout | undefined

  /** Starts anew. `onUp` is called once, unless it is stopped before. It does not keep this process alive. */
  start(pid: number | undefined, limitMs: number, onUp: () => void): void {
    this.stop()
    const began = performance.now()
    const before = workedMs(pid)
    const look = (): void => {
      const now = workedMs(pid)
      const unworked = before === undefined || now === undefined ? 0 : limitMs - (now - before)
      const left = Math.min(unworked, limitMs * PATIENCE - (performance.now() - began))
      if (left <= 0) onUp()
      else this.#timer = setTimeout(look, Math.max(left, MIN_WAIT_MS)).unref()
    }
    this.#timer = setTimeout(look, limitMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
