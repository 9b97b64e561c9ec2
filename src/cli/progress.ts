import type { Progress } from '../core/progress.ts'

/** Where it is shown: a terminal is drawn on again and again, anything else gets a line now and then. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const REDRAW_MS = 200
const LINE_MS = 5_000
const BAR_WIDTH = 24

interface Part {
  readonly name: string
  readonly total: number | undefined
  readonly before: number
  readonly startedAt: number
  count: number
  bytes: number
}

/**
 * Shows how far a long command has come, on standard error: standard output is for what it finds.
 * @param now milliseconds, of any beginning
 */
export function createProgress(
  output: ProgressOutput = process.stderr,
  now: () => number = () => performance.now(),
): Progress {
  const isTerminal = output.isTTY === true
  let part: Part | undefined
  let timer: NodeJS.Timeout | undefined

  function show(): void {
    if (part === undefined) return
    const text = progressText(part, now(), isTerminal)
    // A line that wraps could not be drawn over.
    if (isTerminal) output.write(`\r\u001b[K${text.slice(0, (output.columns ?? 80) - 1)}`)
    else output.write(`${text}\n`)
  }

  function end(): void {
    clearInterval(timer)
    timer = undefined
    if (part === undefined) return
    show()
    if (isTerminal) output.write('\n')
    part = undefined
  }

  return {
    begin(name, total, done = 0) {
      end()
      part = { name, total, before: done, startedAt: now(), count: done, bytes: 0 }
      if (isTerminal) show()
      // A forgotten end must not keep the command from ending.
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

function progressText(part: Part, now: number, withBar: boolean): string {
  const { name, total, count, before, bytes } = part
  const seconds = Math.max(0.001, (now - part.startedAt) / 1_000)
  const rate = (count - before) / seconds
  const words: string[] = []
  if (total === undefined) {
    if (count > 0) words.push(String(count))
  } else {
    const share = total === 0 ? 1 : Math.min(1, count / total)
    const filled = Math.floor(share * BAR_WIDTH)
    if (withBar) words.push(`[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`)
    words.push(`${count} of ${total}, ${Math.floor(share * 100)} %`)
  }
  if (count > 0) words.push(`${Math.round(rate)}/s`)
  if (bytes > 0) words.push(`${(bytes / seconds / 1e6).toFixed(1)} MB/s`)
  if (total === undefined || count >= total) words.push(`after ${duration(seconds)}`)
  else if (rate > 0) words.push(`${duration((total - count) / rate)} left`)
  return `${name}: ${words.join('  ')}`
}

function duration(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}
