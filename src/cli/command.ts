import { Command, Help, InvalidArgumentError, Option } from 'commander'
import { readConfig, type Config, type Flags } from '../server/config/config.ts'
import { environmentName, type Setting } from '../server/config/settings.ts'
import { reportUsageError, WRONG_SETTINGS } from './output.ts'

type Run = (options: Options) => Promise<void>

/** One command of `catalejo`. Its settings are options of the whole program: every command accepts all of them. */
export class CatalejoCommand extends Command {
  /** The settings that its help lists. */
  shownSettings: ShownSettings = []
  /** Complete command lines for the help. */
  exampleLines: readonly string[] = []
  /** The exit code for a wrong setting, if it differs from that of other commands. */
  settingsExitCode: number | undefined

  constructor(name?: string) {
    super(name)
    this.showSuggestionAfterError(false)
      .helpOption('-h, --help', 'show this help')
      .configureOutput({ outputError: (text) => reportUsageError(text, this), writeErr: () => {} })
      .exitOverride((error) => {
        // A command group was given without a command.
        if (error.code === 'commander.help' && error.exitCode > 0)
          reportUsageError('a command is missing', this)
        throw error
      })
  }

  override createCommand(name?: string): CatalejoCommand {
    return new CatalejoCommand(name)
  }

  override createHelp(): SettingsHelp {
    return Object.assign(new SettingsHelp(), this.configureHelp())
  }

  /** Does nothing: the constructor configures each command. */
  override copyInheritedSettings(): this {
    return this
  }

  /** The words after `catalejo`. */
  get path(): readonly string[] {
    return this.parent instanceof CatalejoCommand ? [...this.parent.path, this.name()] : []
  }

  /** The commands at or below it that can be run. */
  leaves(): CatalejoCommand[] {
    const parts = this.commands.filter((one) => one instanceof CatalejoCommand)
    return parts.length === 0 ? [this] : parts.flatMap((one) => one.leaves())
  }

  /** Adds a flag with a value; `values` restricts it. */
  flag(flags: string, description: string, more: FlagOptions = {}): this {
    const option = new Option(flags, description).argParser(rejectFlag)
    if (more.values !== undefined) option.choices(more.values)
    if (more.default !== undefined) option.default(more.default)
    return this.addOption(option.makeOptionMandatory(more.isRequired === true))
  }

  settings(names: ShownSettings): this {
    this.shownSettings = names
    return this.addHelpText('after', names === 'all' ? ENVIRONMENT : ALL_SETTINGS)
  }

  examples(...lines: readonly string[]): this {
    this.exampleLines = lines
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }

  /** Loads and runs the command's function if the command line and the settings are valid. */
  runs(load: () => Promise<Run>): this {
    return this.action(async () => {
      const options = readOptions(this)
      if (options !== undefined) await (await load())(options)
    })
  }
}

interface FlagOptions {
  readonly values?: readonly string[]
  readonly default?: string
  readonly isRequired?: boolean
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
function readOptions(command: CatalejoCommand): Options | undefined {
  const flags: Record<string, string | undefined> = {}
  const switches = new Set<string>()
  for (let one: Command | null = command; one !== null; one = one.parent) {
    for (const option of one.options) {
      const name = option.attributeName()
      // The parser also reads the environment, whose variables the help names: `readConfig` does that.
      if (option instanceof SettingOption && one.getOptionValueSource(name) !== 'cli') continue
      const value: unknown = one.getOptionValue(name)
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

/** Returns a controller that aborts at SIGTERM or SIGINT. A second signal ends the process. */
export function abortOnSignal(): AbortController {
  const stopping = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopping.abort())
  return stopping
}

const ALL_SETTINGS = `
Every command takes all settings, as flags and from the environment (flags win).
To list them: catalejo serve --help`
const ENVIRONMENT = `
Each setting is also an environment variable; NAME_FILE names a file that holds
the value. Flags win over the environment.`

/** The flag of a setting. A wrong value is reported together with all other settings, not by the parser. */
export class SettingOption extends Option {
  constructor(setting: Setting<unknown>) {
    const { defaultText, name, placeholder, summary, topic } = setting
    super(`--${name} <${placeholder}>`, summary)
    this.argParser(rejectFlag).env(environmentName(name)).helpGroup(topic)
    if (defaultText !== '') this.default(defaultText, defaultText)
  }
}

/** Rejects a flag in the place of a value: the value of the previous flag is missing. */
function rejectFlag(value: string): string {
  if (value.startsWith('--')) throw new InvalidArgumentError('It needs a value before the next flag.')
  return value
}

/** Names of settings as their flags are written, or every setting. */
export type ShownSettings = readonly string[] | 'all'

/** The help of a command, with the settings that matter for it in place of those of the program. */
class SettingsHelp extends Help {
  override visibleOptions(command: CatalejoCommand): Option[] {
    const { shownSettings } = command
    let program: Command = command
    while (program.parent !== null) program = program.parent
    const settings = program.options.filter(
      (option) =>
        option instanceof SettingOption && (shownSettings === 'all' || shownSettings.includes(option.name())),
    )
    const own = super.visibleOptions(command).filter((option) => !(option instanceof SettingOption))
    return [...own, ...settings]
  }

  override optionDescription(option: Option): string {
    const description = super.optionDescription(option)
    return option.mandatory ? `${description} (required)` : description
  }
}
