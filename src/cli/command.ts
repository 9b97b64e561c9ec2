import { Command, Help, InvalidArgumentError, Option, type Argument } from 'commander'
import { readConfig, type Config, type Flags } from '../server/config/config.ts'
import { defaultText, environmentName, type Setting } from '../server/config/settings.ts'
import { reportUsageError, WRONG_SETTINGS } from './failure.ts'

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

const ALL_SETTINGS =
  'Every command takes all settings, as flags and from the environment (flags win). To list them: catalejo serve --help'
const ENVIRONMENT =
  'Each setting is also an environment variable; NAME_FILE names a file that holds the value. Flags win over the environment.'
/** Maximum width of the first column of a list, so that the second stays readable at 80 columns. */
const MAX_TERM = 28

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
function rejectFlag(value: string): string {
  if (value.startsWith('--')) throw new InvalidArgumentError('It needs a value before the next flag.')
  return value
}

/** Names of settings as their flags are written, or every setting. */
export type ShownSettings = readonly string[] | 'all'

/** The help of a command: usage, what it does, its flags, the settings that matter for it, examples. */
export class HelpText extends Help {
  override formatHelp(command: CatalejoCommand, helper: Help): string {
    const wrap = (text: string) => helper.boxWrap(text, helper.helpWidth ?? 80)
    const options = helper.visibleOptions(command).filter((option) => !(option instanceof SettingOption))
    const settings = settingsOf(command)
    const isAll = command.shownSettings === 'all'
    const sections = [
      [wrap(`Usage: ${helper.commandUsage(command)}`)],
      [wrap(command.description())],
      this.#section(
        'Arguments:',
        command.registeredArguments.map((one) => [one.name(), helper.argumentDescription(one)]),
      ),
      this.#section(
        'Options:',
        options.map((one) => [helper.optionTerm(one), describe(one, command.requiredFlags.includes(one))]),
      ),
      this.#section(
        isAll ? 'Settings:' : 'Settings that matter here:',
        settings.map((one) => [helper.optionTerm(one), one.describe()]),
      ),
      settings.length === 0 ? [] : [wrap(isAll ? ENVIRONMENT : ALL_SETTINGS)],
      this.#section(
        'Commands:',
        command.commands.length === 0
          ? []
          : command.leaves().map((one) => [this.#commandTerm(one, command), one.summary()]),
      ),
      command.exampleLines.length === 0
        ? []
        : ['Examples:', ...command.exampleLines.map((line) => `  ${line}`)],
    ]
    return `${sections
      .filter((lines) => lines.length > 0)
      .map((lines) => lines.join('\n'))
      .join('\n\n')}\n`
  }

  override commandUsage(command: CatalejoCommand): string {
    const required = command.requiredFlags.map(({ flags }) => flags)
    const rest = command.commands.length > 0 ? ['COMMAND', '[options]'] : ['[options]']
    const given = command.registeredArguments.map((one) => this.argumentTerm(one))
    return ['catalejo', ...command.path, ...required, ...rest, ...given].join(' ')
  }

  override argumentTerm(argument: Argument): string {
    const name = argument.variadic ? `${argument.name()}...` : argument.name()
    return argument.required ? name : `[${name}]`
  }

  #commandTerm({ path, registeredArguments }: CatalejoCommand, group: CatalejoCommand): string {
    const given = registeredArguments.map((one) => this.argumentTerm(one))
    return [...path.slice(group.path.length), ...given].join(' ')
  }

  #section(title: string, items: readonly (readonly [string, string])[]): string[] {
    if (items.length === 0) return []
    const width = Math.min(MAX_TERM, Math.max(...items.map(([term]) => term.length)))
    const lines = items.map(([term, description]) =>
      term.length > width
        ? `  ${term}\n${this.formatItem('', width, description, this)}`
        : this.formatItem(term, width, description, this),
    )
    return [title, ...lines]
  }
}

/** Returns the meaning of a flag, whether it is required, its permitted values and its default. */
function describe(option: Option, isRequired: boolean): string {
  const notes = [
    ...(isRequired ? ['required'] : []),
    ...(option.argChoices === undefined ? [] : [option.argChoices.join(', ')]),
    ...(option.defaultValue === undefined ? [] : [`default: ${String(option.defaultValue)}`]),
  ]
  return notes.length === 0 ? option.description : `${option.description} (${notes.join('; ')})`
}

/** The settings that a command's help lists. */
export function settingsOf(command: CatalejoCommand): SettingOption[] {
  const { path, shownSettings } = command
  if (path.length === 0) return []
  let program: Command = command
  while (program.parent !== null) program = program.parent
  return program.options
    .filter((option) => option instanceof SettingOption)
    .filter((option) => shownSettings === 'all' || shownSettings.includes(option.name()))
}

/** `catalejo help COMMAND`: prints the same as `catalejo COMMAND --help`. */
export function showHelp(program: Command, words: readonly string[]): void {
  let command = program
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word)
    // Reports the word with the most similar command.
    if (next === undefined) return command.error(`error: unknown command '${word}'`)
    command = next
  }
  command.outputHelp()
}
