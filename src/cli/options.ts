import { InvalidArgumentError, Option, type Command } from 'commander'
import { readConfig, type Config, type Flags } from '../server/config/config.ts'
import { defaultText, environmentName, type Setting } from '../server/config/setting.ts'
import { WRONG_SETTINGS } from './failure.ts'

/** The flag of a setting. A wrong value is reported together with all other settings, not by the parser. */
export class SettingOption extends Option {
  readonly #setting: Setting<unknown>

  constructor(setting: Setting<unknown>) {
    super(`--${setting.name} <VALUE>`, setting.summary)
    this.#setting = setting
    this.argParser(rejectFlag)
    if (setting.parse.values !== undefined) this.argChoices = [...setting.parse.values]
  }

  /** Returns the meaning, the environment variable, the permitted values and the default. */
  describe(): string {
    const { name, summary } = this.#setting
    const fallback = defaultText(this.#setting)
    const notes = [
      environmentName(name),
      ...this.#takes(),
      ...(fallback === '' ? [] : [`default: ${fallback}`]),
    ]
    return `${summary} (${notes.join('; ')})`
  }

  /** The permitted values, as the error for a wrong one names them. Those of addresses are in the summary. */
  #takes(): string[] {
    const parsed = this.#setting.parse('\0')
    return 'takes' in parsed && !parsed.takes.includes('://') ? [parsed.takes] : []
  }
}

/** Rejects a flag in the place of a value: the value of the previous flag is missing. */
export function rejectFlag(value: string): string {
  if (value.startsWith('--')) throw new InvalidArgumentError('It needs a value before the next flag.')
  return value
}

export interface Options {
  readonly config: Config
  readonly positionals: readonly string[]
  /** The flags with a value, settings included, by name without the leading hyphens. */
  readonly own: Flags
  /** The flags without a value that are set. */
  readonly switches: ReadonlySet<string>
}

/** Reads the settings of a parsed command. If one is wrong, reports it, sets the exit code and returns undefined. */
export function readOptions(
  command: Command & { readonly settingsExitCode: number | undefined },
): Options | undefined {
  const values: Record<string, unknown> = command.optsWithGlobals()
  const flags: Record<string, string | undefined> = {}
  const switches = new Set<string>()
  for (let one: Command | null = command; one !== null; one = one.parent) {
    for (const option of one.options) {
      const value = values[option.attributeName()]
      if (typeof value === 'string') flags[option.name()] = value
      else if (value === true) switches.add(option.name())
    }
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
