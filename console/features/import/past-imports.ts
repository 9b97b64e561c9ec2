import { SERVICE_URL, serverNow } from '../../base/server.ts'
import { browserStorage } from '../../base/browser-storage.ts'

/** An import that ended or was stopped. */
export interface PastImport {
  readonly name: string
  /** Seconds since 1970, by the service's clock. */
  readonly at: number
  readonly rows: number
  readonly stored: number
  readonly refused: number
  readonly isComplete: boolean
}

/** A quarter of a year of daily lists. */
const MAX_KEPT = 90

const placeOf = (account: string): string => `catalejo.imports ${SERVICE_URL.pathname} ${account}`

/** Returns the imports of an account in this browser, newest first. */
export function pastImports(account: string | undefined): readonly PastImport[] {
  if (account === undefined) return []
  try {
    const found: unknown = JSON.parse(browserStorage.read(placeOf(account)) ?? '[]')
    return Array.isArray(found) ? found.flatMap(readImport).slice(0, MAX_KEPT) : []
  } catch {
    return []
  }
}

/** Records how an import ended. A resumed import replaces its earlier part. */
export function recordPastImport(account: string | undefined, ended: Omit<PastImport, 'at'>): void {
  if (account === undefined) return
  const isPart = ({ name, rows, isComplete }: PastImport) =>
    name === ended.name && rows === ended.rows && !isComplete
  const before = pastImports(account).filter((one) => !isPart(one))
  const all = [{ ...ended, at: Math.floor(serverNow() / 1_000) }, ...before]
  browserStorage.write(placeOf(account), JSON.stringify(all.slice(0, MAX_KEPT)))
}

function readImport(found: unknown): PastImport[] {
  if (typeof found !== 'object' || found === null) return []
  const { name, at, rows, stored, refused, isComplete }: Partial<Record<keyof PastImport, unknown>> = found
  if (typeof name !== 'string' || typeof at !== 'number' || typeof rows !== 'number') return []
  if (typeof stored !== 'number' || typeof refused !== 'number' || typeof isComplete !== 'boolean') return []
  return [{ name, at, rows, stored, refused, isComplete }]
}
