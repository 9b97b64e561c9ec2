import type { Progress, ProgressUnit } from '../lib/progress.ts'

/** How often a line is printed. */
const LINE_MS = 5_000

interface Part {
  readonly name: string
  readonly total: number | undefined
  readonly unit: ProgressUnit
  readonly before: number
  readonly startedAt: number
  count: number
}

/** `hasBegun`: whether a part was started, so that a failed command may have left something to continue. */
export interface ShownProgress extends Progress {
  readonly hasBegun: boolean
}

/**
 * Prints the progress of a long-running command on standard error; standard output is for results.
 * @param now a monotonic clock in milliseconds
 */
export function createProgress(
  output: Pick<NodeJS.WriteStream, 'write'> = process.stderr,
  now: () => number = () => performance.now(),
): ShownProgress {
  let part: Part | undefined
  let hasBegun = false
  let timer: NodeJS.Timeout | undefined
  const show = () => {
    if (part !== undefined) output.write(`${toLine(part, (now() - part.startedAt) / 1_000)}\n`)
  }
  const end = () => {
    clearInterval(timer)
    show()
    part = undefined
  }
  return {
    get hasBegun() {
      return hasBegun
    },
    begin(name, total, done = 0, unit = 'items') {
      end()
      hasBegun = true
      part = { name, total, unit, before: done, startedAt: now(), count: done }
      // A missing end() must not keep the process alive.
      timer = setInterval(show, LINE_MS).unref()
    },
    add(count) {
      if (part !== undefined) part.count += count
    },
    end,
  }
}

/** `images: 25 of 100, 25 %, 15 s left` */
function toLine({ name, total, unit, count, before }: Part, seconds: number): string {
  const amount = (value: number) => (unit === 'bytes' ? `${(value / 1e6).toFixed(1)} MB` : String(value))
  const after = `after ${Math.round(seconds)} s`
  if (total === undefined) return `${name}: ${amount(count)}, ${after}`
  const isDone = count >= total
  const percent = isDone ? 100 : Math.floor((count / total) * 100)
  const left = ((total - count) / (count - before)) * seconds
  const time = isDone || !Number.isFinite(left) ? after : `${Math.round(left)} s left`
  return `${name}: ${amount(count)} of ${amount(total)}, ${percent} %, ${time}`
}
