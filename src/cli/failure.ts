import { HttpError, asError } from '../lib/errors.ts'
import { reasonOf } from '../storage/blobs/open.ts'
import { StorageFault } from '../storage/database/faults.ts'
import type { Command } from 'commander'
import { suggestion } from '../lib/text.ts'

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
