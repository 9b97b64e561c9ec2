import { isFilterName } from './filters.ts'
import { serializeFilters } from './saved-filters.ts'

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
  view(values: Parameters<typeof serializeFilters>[0]): string {
    const filters = Object.entries(serializeFilters(values)).filter(([name]) => isFilterName(name))
    // The details of a name show its lookalikes, which the list cannot.
    const { similar } = values
    const isName = typeof similar === 'string' && !similar.includes(',')
    return this.#domains(isName ? [...filters, ['ficha', similar]] : filters)
  }

  /** Returns the address at which the reader of a mail address confirms it. */
  readonly confirmation = (token: string): string => `${this.#baseUrl()}${CONFIRMATION_PATH}${token}`

  #domains(query: readonly (readonly [string, string])[]): string {
    const text = new URLSearchParams(Object.fromEntries(query)).toString()
    return `${this.#baseUrl()}/console/dominios${text === '' ? '' : `?${text}`}`
  }
}
