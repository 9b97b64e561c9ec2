import { Command, Option } from 'commander'
import { readConfig, type Config, type Flags } from '../server/config/config.ts'
import { reportUsageError, WRONG_SETTINGS } from './failure.ts'
import { HelpText, rejectFlag, type ShownSettings } from './help.ts'

type Run = (options: Options) => Promise<void>

/** One command of `catalejo`. Its settings are options of the whole program: every command accepts all of them. */
export class CatalejoCommand extends Command {
  /** The settings that its help lists. */
  shownSettings: ShownSettings = []
  /** Complete command lines for the help. */
  exampleLines: readonly string[] = []
  /** Flags that must be given. Checked after unknown flags, so that a misspelt one is reported as unknown. */
  requiredFlags: readonly Option[] = []
  /** The exit code for a wrong setting, if it differs from that of other commands. */
  settingsExitCode: number | undefined

  constructor(name?: string) {
    super(name)
    this.helpCommand(false)
      .showSuggestionAfterError(false)
      .helpOption('-h, --help', 'show this help')
      .configureOutput({ outputError: (text) => reportUsageError(text, this), writeErr: () => {} })
      .exitOverride((error) => {
        // A command group was given without a command.
        if (error.code === 'commander.help') reportUsageError('a command is missing', this)
        throw error
      })
  }

  override createCommand(name?: string): CatalejoCommand {
    return new CatalejoCommand(name)
  }

  override createHelp(): HelpText {
    return Object.assign(new HelpText(), this.configureHelp())
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
    if (more.isRequired === true) this.requiredFlags = [...this.requiredFlags, option]
    return this.addOption(option)
  }

  settings(names: ShownSettings): this {
    this.shownSettings = names
    return this
  }

  examples(...lines: readonly string[]): this {
    this.exampleLines = lines
    return this
  }

  /** Loads and runs the command's function if the command line and the settings are valid. */
  runs(load: () => Promise<Run>): this {
    return this.action(async () => {
      const missing = this.requiredFlags.find(
        (flag) => this.getOptionValue(flag.attributeName()) === undefined,
      )
      if (missing !== undefined) this.error(`error: required option '${missing.flags}' not specified`)
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
