import type { Progress, ProgressUnit } from '../lib/progress.ts'

/** Where progress is printed: a terminal is redrawn, other outputs get a line every few seconds. */
export interface ProgressOutput {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const REDRAW_MS = 200
const LINE_MS = 5_000
/** Widths in characters. A bar with less room than `MIN_BAR` is omitted. */
const MAX_BAR = 24
const MIN_BAR = 4
const MIN_NAME = 12

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
    const { name, words, share } = progressOf(part, now())
    // A line that wraps cannot be redrawn.
    if (isTerminal) output.write(`\r\u001b[K${fitted(name, words, share, (output.columns ?? 80) - 1)}`)
    else output.write(`${name}: ${words}\n`)
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

/** @returns the text for a part, and the share that is done, from 0 to 1, if it is known */
function progressOf(part: Part, now: number): { name: string; words: string; share: number | undefined } {
  const { name, total, unit, count, before, bytes } = part
  const amount = unit === 'bytes' ? bytesText : String
  const seconds = Math.max(0.001, (now - part.startedAt) / 1_000)
  const rate = (count - before) / seconds
  const share = total === undefined ? undefined : total === 0 ? 1 : Math.min(1, count / total)
  const words: string[] = []
  if (total !== undefined && share !== undefined) {
    words.push(`${amount(count)} of ${amount(total)}, ${Math.floor(share * 100)} %`)
  } else if (count > 0) words.push(amount(count))
  if (count > 0) words.push(`${amount(Math.round(rate))}/s`)
  if (bytes > 0) words.push(`${bytesText(bytes / seconds)}/s`)
  if (total === undefined || count >= total) words.push(`after ${duration(seconds)}`)
  else if (rate > 0) words.push(`${duration((total - count) / rate)} left`)
  return { name, words: words.join('  '), share }
}

/** Fits a line into `width` characters by shortening the bar first, then the middle of the name. */
function fitted(name: string, words: string, share: number | undefined, width: number): string {
  const room = Math.min(MAX_BAR, width - `${name}: []  ${words}`.length)
  if (share !== undefined && room >= MIN_BAR) {
    const filled = Math.floor(share * room)
    return `${name}: [${'#'.repeat(filled)}${'-'.repeat(room - filled)}]  ${words}`
  }
  const most = Math.max(MIN_NAME, width - `: ${words}`.length)
  return `${shortened(name, most)}: ${words}`.slice(0, width)
}

function shortened(name: string, most: number): string {
  if (name.length <= most) return name
  const half = Math.floor((most - 1) / 2)
  return `${name.slice(0, most - 1 - half)}…${name.slice(-half)}`
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes in a decimal unit with one decimal place: `41.5 MB`. */
function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1_000 ** power
  return `${power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power] ?? ''}`
}

function duration(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
}
