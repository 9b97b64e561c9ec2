import type { Command } from 'commander'
import { HttpError, asError } from '../lib/errors.ts'
import type { Progress, ProgressUnit } from '../lib/concurrency.ts'
import { suggestion } from '../lib/text.ts'
import { reasonOf } from '../storage/blobs/open.ts'
import { StorageFault } from '../storage/database/faults.ts'

/** Exit codes beyond 0 and 1 that a supervisor may act upon: a wrong command line, and wrong settings (EX_CONFIG of sysexits.h). */
export const USAGE = 2
export const WRONG_SETTINGS = 78
/** `verify` exits with 1 only if it found faults. */
export const COULD_NOT_VERIFY = 2

/** Reports in one line what is wrong with the command line, and sets the exit code. */
export function usageFault(message: string): undefined {
  console.error(`catalejo: ${message}`)
  process.exitCode = USAGE
}

/** Reports an error of the parser, with the most similar name if a command or an option is unknown. */
export function reportUsageError(text: string, command: Command): void {
  const message = text.replace(/^error: /, '').replace(/\.?\s*$/, '')
  const [, kind, unknown] = /^unknown (option|command) '(.*)'$/s.exec(message) ?? []
  if (kind === undefined || unknown === undefined) return usageFault(`${message}${seeHelp(command)}`)
  // The value after an equals sign may be secret.
  const name = unknown.replace(/=.*/s, '')
  const known = kind === 'option' ? toOptions(command) : command.commands.map((one) => one.name())
  const similar = suggestion(name, known)
  const advice = similar === undefined ? seeHelp(command) : `, did you mean ${similar}?`
  usageFault(`unknown ${kind} '${name}'${advice}`)
}

/** The long flags that a command accepts, including those of the whole program. */
function toOptions(command: Command | null): string[] {
  if (command === null) return ['--help']
  return [...command.options.flatMap(({ long }) => long ?? []), ...toOptions(command.parent)]
}

function seeHelp(command: Command): string {
  const names: string[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name())
  return `; see ${names.join(' ')} --help`
}

/** Returns why a command failed, in one line: a fault of a disk or a database needs no stack. */
export function failureLine(error: unknown): string {
  if (error instanceof StorageFault) return error.advice
  // The message of an HttpError is worded for clients; its cause says more.
  const text = error instanceof HttpError ? reasonOf(error) : asError(error).message
  return text.split('\n', 1)[0] || 'an unknown error'
}

/** Reports a failed command on standard error and sets exit code 1. */
export function fail(message: string): void {
  console.error(`catalejo: ${message}`)
  process.exitCode = 1
}

/** Prints texts no faster than they are read. An error of the output ends the command. */
export async function printAll(texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts)
    await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()))
}

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
interface ShownProgress extends Progress, Disposable {
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
    [Symbol.dispose]: end,
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
