import { DISCARDED_RETENTION_DAYS } from '../api/limits.ts'
import type { Operations } from '../api/schema.ts'

type ListedRecord = Operations['GET /api/v1/domainwatch/list']['answer']['data'][number][number]

/** A record as `list` returns it, with what `fields` adds. */
export type DomainRecord = ListedRecord & {
  readonly seen?: number
  readonly note?: string
  readonly tags?: string[]
  readonly words?: string[]
  readonly seen_by?: string | null
  readonly seen_at?: string | null
  readonly deleted_at?: string | null
  readonly claimed_by?: string | null
  readonly claimed_until?: string | null
}

/** The A-label; undefined if it equals the name. */
export function asciiOf(name: string): string | undefined {
  if (/^[\x20-\x7e]*$/.test(name)) return undefined
  const { hostname } = new URL(`http://${name}.cl`)
  return hostname.slice(0, -'.cl'.length)
}

const RETENTION_MS = DISCARDED_RETENTION_DAYS * 24 * 60 * 60_000

export interface Left {
  readonly days: number
  readonly hours: number
  readonly minutes: number
}

/** The time until a record discarded at that time deletes itself. */
export function leftOf(discardedAt: number, now: number): Left {
  const minutes = Math.max(0, Math.ceil((discardedAt + RETENTION_MS - now) / 60_000))
  return { days: Math.floor(minutes / 1_440), hours: Math.floor(minutes / 60) % 24, minutes: minutes % 60 }
}
