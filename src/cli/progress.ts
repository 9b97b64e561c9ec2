import type { Progress, ProgressUnit } from '../lib/progress.ts'

/** Where progress is printed: a terminal is redrawn, other outputs get a line every few seconds. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const REDRAW_MS = 200
const LINE_MS = 5_000

interface Part {
  readonly name: string
  readonly total: number | undefined
  readonly unit: ProgressUnit
  readonly before: number
  readonly startedAt: number
  count: number
  bytes: number
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
  output: ProgressOutput = process.stderr,
  now: () => number = () => performance.now(),
): ShownProgress {
  const isTerminal = output.isTTY === true
  let part: Part | undefined
  let hasBegun = false
  let timer: NodeJS.Timeout | undefined

  function show(): void {
    if (part === undefined) return
    const line = lineOf(part, (now() - part.startedAt) / 1_000)
    // A line that wraps cannot be redrawn.
    output.write(isTerminal ? `\r\u001b[K${line.slice(0, (output.columns ?? 80) - 1)}` : `${line}\n`)
  }

  function end(): void {
    clearInterval(timer)
    show()
    if (isTerminal && part !== undefined) output.write('\n')
    part = undefined
  }

  return {
    get hasBegun() {
      return hasBegun
    },
    begin(name, total, done = 0, unit = 'items') {
      end()
      hasBegun = true
      part = { name, total, unit, before: done, startedAt: now(), count: done, bytes: 0 }
      if (isTerminal) show()
      // A missing end() must not keep the process alive.
      timer = setInterval(show, isTerminal ? REDRAW_MS : LINE_MS).unref()
    },
    add(count, bytes = 0) {
      if (part === undefined) return
      part.count += count
      part.bytes += bytes
    },
    end,
  }
}

/** `images: 25 of 100, 25 %, 5/s, 1.2 MB/s, 0:15 left` */
function lineOf({ name, total, unit, count, before, bytes }: Part, elapsed: number): string {
  const amount = unit === 'bytes' ? bytesText : String
  const seconds = Math.max(0.001, elapsed)
  const rate = (count - before) / seconds
  const words = [
    total === undefined
      ? amount(count)
      : `${amount(count)} of ${amount(total)}, ${total === 0 ? 100 : Math.floor(Math.min(1, count / total) * 100)} %`,
  ]
  if (count > 0) words.push(`${amount(Math.round(rate))}/s`)
  if (bytes > 0) words.push(`${bytesText(bytes / seconds)}/s`)
  if (total === undefined || count >= total) words.push(`after ${duration(seconds)}`)
  else if (rate > 0) words.push(`${duration((total - count) / rate)} left`)
  return `${name}: ${words.join(', ')}`
}

const bytesText = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

function duration(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}
