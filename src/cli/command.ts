import { Command, Option } from 'commander'
import { HelpText } from './help.ts'
import { readOptions, type Options } from './options.ts'
import { rejectFlag } from './setting-option.ts'
import { reportUsageError } from './usage.ts'

type Run = (options: Options) => Promise<void>

/** The name of a setting, as its flag is written; `all` for every setting. */
export type ShownSettings = readonly string[] | 'all'

/** One command of `catalejo`. Its settings are options of the whole program: every command accepts all of them. */
export class CatalejoCommand extends Command {
  /** The settings that matter for this command, and that its help therefore lists. */
  shownSettings: ShownSettings = []
  /** Command lines that work as they are. */
  exampleLines: readonly string[] = []
  /** Flags that must be given. Checked after unknown flags, so that a misspelt one is reported as such. */
  requiredFlags: readonly Option[] = []
  /** The exit code if a setting is wrong, where it is not that of all commands. */
  settingsExitCode: number | undefined

  constructor(name?: string) {
    super(name)
    this.helpCommand(false)
      .showSuggestionAfterError(false)
      .helpOption('-h, --help', 'show this help')
      .configureOutput({ outputError: (text) => reportUsageError(text, this), writeErr: () => {} })
      .exitOverride((error) => {
        // A group of commands without one of them.
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

  /** Nothing: the constructor configures each command for itself. */
  override copyInheritedSettings(): this {
    return this
  }

  /** The words after `catalejo`. */
  get path(): readonly string[] {
    return this.parent instanceof CatalejoCommand ? [...this.parent.path, this.name()] : []
  }

  /** The commands at or below it that do something themselves. */
  leaves(): CatalejoCommand[] {
    const parts = this.commands.filter((one) => one instanceof CatalejoCommand)
    return parts.length === 0 ? [this] : parts.flatMap((one) => one.leaves())
  }

  /** Adds a flag with a value. `values`: all that it takes. */
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

  /** Loads and runs the command's function once its words and settings are read without a fault. */
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
