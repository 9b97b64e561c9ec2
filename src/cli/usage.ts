import type { Command } from 'commander'
import { suggestion } from '../lib/suggestion.ts'
import { USAGE } from './exit-codes.ts'

/** Reports in one line what is wrong with the command's words, and sets the exit code. */
export function usageFault(message: string): void {
  console.error(`catalejo: ${message}`)
  process.exitCode = USAGE
}

/** Reports an error of the parser, with the nearest known name where the words have an unknown one. */
export function reportUsageError(text: string, command: Command): void {
  const message = text.replace(/^error: /, '').replace(/\.?\s*$/, '')
  const [, kind, unknown] = /^unknown (option|command) '(.*)'$/s.exec(message) ?? []
  if (kind === undefined || unknown === undefined) return usageFault(`${message}${seeHelp(command)}`)
  // What is behind an equals sign may be secret.
  const name = unknown.replace(/=.*/s, '')
  const near = suggestion(name, kind === 'option' ? optionsOf(command) : namesOf(command))
  usageFault(`unknown ${kind} '${name}'${near === undefined ? seeHelp(command) : `, did you mean ${near}?`}`)
}

function namesOf(command: Command): string[] {
  return command.commands.map((one) => one.name())
}

/** The long flags that a command accepts, those of the whole program included. */
function optionsOf(command: Command | null): string[] {
  if (command === null) return ['--help']
  return [...command.options.flatMap(({ long }) => long ?? []), ...optionsOf(command.parent)]
}

function seeHelp(command: Command): string {
  const names: string[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name())
  return `; see ${names.join(' ')} --help`
}
