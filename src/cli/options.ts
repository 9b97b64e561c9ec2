import type { Command, Option } from 'commander'
import { readConfig, type Config, type Flags } from '../server/config/config.ts'
import type { CatalejoCommand } from './command.ts'
import { WRONG_SETTINGS } from './exit-codes.ts'

export interface Options {
  readonly config: Config
  readonly positionals: readonly string[]
  /** The flags with a value, settings included, by their name without hyphens in front. */
  readonly own: Flags
  /** The flags without a value that are on. */
  readonly switches: ReadonlySet<string>
}

/** Reads the settings for a command whose words are parsed. Undefined, and reported with the exit code set, if one is wrong. */
export function readOptions(command: CatalejoCommand): Options | undefined {
  const flags: Record<string, string | undefined> = {}
  const switches = new Set<string>()
  for (const [option, value] of valuesOf(command)) {
    if (typeof value === 'string') flags[option.name()] = value
    else if (value === true) switches.add(option.name())
  }
  const result = readConfig(flags)
  for (const warning of result.warnings) console.error(warning)
  if (!result.ok) {
    for (const fault of result.faults) console.error(fault)
    process.exitCode = command.settingsExitCode ?? WRONG_SETTINGS
    return undefined
  }
  return { config: result.config, positionals: command.args, own: flags, switches }
}

/** Every option that the command accepts, with what was given for it: its own, and those of the whole program. */
function valuesOf(command: CatalejoCommand): (readonly [Option, unknown])[] {
  const values: Record<string, unknown> = command.optsWithGlobals()
  const options: Option[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) options.push(...one.options)
  return options.map((option) => [option, values[option.attributeName()]])
}
