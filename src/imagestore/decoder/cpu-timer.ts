import { readFileSync } from 'node:fs'

/** Linux reports processor time in hundredths of a second on every machine. */
const TICK_MS = 10
/** The limit on the duration, in times the limit on processor time: stops processes that sleep or hang. */
const DURATION_FACTOR = 4
/** Avoids frequent checks shortly before the end. */
const MIN_CHECK_MS = 50

/** Processor time that all threads of a process have used so far, in milliseconds; undefined where there is no /proc. */
function processorTime(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // proc(5): the name, in parentheses, may contain anything; user and system time are the 12th and 13th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return undefined
  }
}

/** Fires when a process has used an amount of processor time (Linux), or after that time on other systems. */
export class CpuTimer {
  #timer: NodeJS.Timeout | undefined

  /** Restarts the timer, which is unref'd. `onTimeout` is called once, unless the timer is stopped first. */
  start(pid: number | undefined, limitMs: number, onTimeout: () => void): void {
    this.stop()
    const startedAt = performance.now()
    const before = processorTime(pid)
    const check = (): void => {
      const now = processorTime(pid)
      const unused = before === undefined || now === undefined ? 0 : limitMs - (now - before)
      const left = Math.min(unused, limitMs * DURATION_FACTOR - (performance.now() - startedAt))
      if (left <= 0) onTimeout()
      else this.#timer = setTimeout(check, Math.max(left, MIN_CHECK_MS)).unref()
    }
    this.#timer = setTimeout(check, limitMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
