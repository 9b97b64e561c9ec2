import { Help, InvalidArgumentError, Option, type Argument, type Command } from 'commander'
import { defaultText, environmentName, type Setting } from '../server/config/settings.ts'

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
export function rejectFlag(value: string): string {
  if (value.startsWith('--')) throw new InvalidArgumentError('It needs a value before the next flag.')
  return value
}

/** Names of settings as their flags are written, or every setting. */
export type ShownSettings = readonly string[] | 'all'

/** A command with what its help needs. */
interface HelpedCommand extends Command {
  readonly shownSettings: ShownSettings
  readonly exampleLines: readonly string[]
  readonly requiredFlags: readonly Option[]
  /** The words after `catalejo`. */
  readonly path: readonly string[]
  /** The commands at or below it that can be run. */
  leaves(): readonly HelpedCommand[]
}

/** The help of a command: usage, what it does, its flags, the settings that matter for it, examples. */
export class HelpText extends Help {
  override formatHelp(command: HelpedCommand, helper: Help): string {
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

  override commandUsage(command: HelpedCommand): string {
    const required = command.requiredFlags.map(({ flags }) => flags)
    const rest = command.commands.length > 0 ? ['COMMAND', '[options]'] : ['[options]']
    const given = command.registeredArguments.map((one) => this.argumentTerm(one))
    return ['catalejo', ...command.path, ...required, ...rest, ...given].join(' ')
  }

  override argumentTerm(argument: Argument): string {
    const name = argument.variadic ? `${argument.name()}...` : argument.name()
    return argument.required ? name : `[${name}]`
  }

  #commandTerm({ path, registeredArguments }: HelpedCommand, group: HelpedCommand): string {
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
export function settingsOf(command: HelpedCommand): SettingOption[] {
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
