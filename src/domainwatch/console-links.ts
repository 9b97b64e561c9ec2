import { filterParameters } from './filters.ts'

export const CONFIRMATION_PATH = '/w/confirmar/'

/** Addresses in messages: of the console, whose paths and parameters are those of `console/app`, and to confirm a mail address. */
export class ConsoleLinks {
  readonly #baseUrl: () => string

  constructor(baseUrl: () => string) {
    this.#baseUrl = baseUrl
  }

  /** Returns the address of a record's details. */
  readonly sheet = (name: string): string => this.#domains([['ficha', name]])

  /**
   * Returns the address of the list with these filters; other parameters are left out.
   * @param values of parameters; a flag is true or an empty text
   */
  view(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
    const filters = Object.keys(filterParameters).flatMap((name): [string, string][] => {
      const value = values[name]
      if (value === undefined || value === false) return []
      return [[name, value === true ? '' : String(value)]]
    })
    // The details of a name show its lookalikes, which the list cannot.
    const { similar } = values
    return this.#domains(typeof similar === 'string' ? [...filters, ['ficha', similar]] : filters)
  }

  /** Returns the address at which the reader of a mail address confirms it. */
  readonly confirmation = (token: string): string => `${this.#baseUrl()}${CONFIRMATION_PATH}${token}`

  #domains(query: [string, string][]): string {
    const text = new URLSearchParams(query).toString()
    return `${this.#baseUrl()}/console/dominios${text === '' ? '' : `?${text}`}`
  }
}
