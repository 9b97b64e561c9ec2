import type { Operations } from '../../api/schema.ts'

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
export function aLabelOf(name: string): string | undefined {
  if (/^[\x20-\x7e]*$/.test(name)) return undefined
  const { hostname } = new URL(`http://${name}.cl`)
  return hostname.slice(0, -'.cl'.length)
}
