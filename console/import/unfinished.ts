/** An import that the page was left in the middle of. */
export interface Unfinished {
  readonly name: string
  readonly size: number
  readonly rows: number
  /** Rows from the start that are stored or refused. */
  readonly done: number
}

const PLACE = 'catalejo.import'

export function keepUnfinished(left: Unfinished): void {
  localStorage.setItem(PLACE, JSON.stringify(left))
}

export function forgetUnfinished(): void {
  localStorage.removeItem(PLACE)
}

export function unfinished(): Unfinished | undefined {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(PLACE) ?? 'null')
    if (typeof found !== 'object' || found === null) return undefined
    const { name, size, rows, done }: Partial<Record<keyof Unfinished, unknown>> = found
    if (typeof name !== 'string' || typeof size !== 'number') return undefined
    return typeof rows === 'number' && typeof done === 'number' ? { name, size, rows, done } : undefined
  } catch {
    return undefined
  }
}
