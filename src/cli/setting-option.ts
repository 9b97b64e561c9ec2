import { InvalidArgumentError, Option } from 'commander'
import { environmentName, type Setting } from '../server/config/setting.ts'

/** The flag of a setting. What is wrong with its value is reported together with all other settings, and not by the parser. */
export class SettingOption extends Option {
  readonly #setting: Setting<unknown>

  constructor(setting: Setting<unknown>) {
    super(`--${setting.name} <VALUE>`, setting.summary)
    this.#setting = setting
    this.argParser(rejectFlag)
    if (setting.parse.values !== undefined) this.argChoices = [...setting.parse.values]
  }

  /** The meaning, the variable, what the setting takes and its default. */
  describe(): string {
    const { name, summary, default: fallback } = this.#setting
    const notes = [environmentName(name), ...this.#takes(), ...defaultOf(fallback)]
    return `${summary} (${notes.join('; ')})`
  }

  /**
   * In the setting's own words: its answer to a text that no setting takes. Addresses have their form in the summary, and are too
   * long for a column.
   */
  #takes(): string[] {
    const parsed = this.#setting.parse('\0')
    return 'takes' in parsed && !parsed.takes.includes('://') ? [parsed.takes] : []
  }
}

/** Defaults that are not a text, a number or a list of those mean that the setting is empty. */
function defaultOf(fallback: unknown): string[] {
  const isPlain = ['string', 'number'].includes(typeof fallback) || Array.isArray(fallback)
  return isPlain && String(fallback) !== '' ? [`default: ${String(fallback)}`] : []
}

/** Rejects a flag in the place of a value: the value of the flag before it was forgotten. */
export function rejectFlag(value: string): string {
  if (value.startsWith('--')) throw new InvalidArgumentError('It needs a value before the next flag.')
  return value
}
