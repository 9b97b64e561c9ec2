import { splitTags } from '../../tags.ts'
import { acceptsMail, type DnsNews } from '../../events/dns-news.ts'
import { recordIn, type ChangedRecord, type DomainEvent } from '../../events/event.ts'

/** Fields whose change is reported by name, in this order. */
const COMPARED = ['agent', 'reserved', 'revision', 'date_reg', 'note', 'tags'] as const
export type ComparedField = (typeof COMPARED)[number]

/** What happened to a name, for people. */
export type Occurrence =
  | { readonly kind: 'new' | 'newFree' | 'released' | 'registered' | 'discarded' | 'deleted' }
  | { readonly kind: 'changed'; readonly fields: readonly ComparedField[] }
  /** `hosts` are those of now. */
  | { readonly kind: 'nameServers' | 'mailBegins' | 'mailEnds'; readonly hosts: readonly string[] }

/** What happened to one name, in order, and its record afterwards. */
export interface NewsItem {
  readonly name: string
  readonly occurrences: readonly Occurrence[]
  readonly agent: string
  readonly note: string
  readonly tags: readonly string[]
}

/** Gathers events by name, in the order in which the names first occur. */
export function newsOf(events: readonly DomainEvent[]): NewsItem[] {
  const byName = Map.groupBy(events, (event) => recordIn(event)?.name ?? '')
  return [...byName].flatMap(([name, all]) => {
    const last = all.at(-1)
    const record = last && recordIn(last)
    if (!record) return []
    const { agent, note, tags } = record
    return [{ name, occurrences: all.map(occurrenceOf), agent, note: note ?? '', tags: splitTags(tags) }]
  })
}

function occurrenceOf({ kind, before, after, dns }: DomainEvent): Occurrence {
  switch (kind) {
    case 'added':
      return { kind: after?.status === 1 ? 'new' : 'newFree' }
    case 'discarded':
    case 'deleted':
      return { kind }
    case 'dns':
      return dns === undefined ? { kind: 'nameServers', hosts: [] } : dnsOccurrence(dns)
    case 'changed':
      if (before?.status === 1 && after?.status === 0) return { kind: 'released' }
      if (before?.status === 0 && after?.status === 1) return { kind: 'registered' }
      return { kind: 'changed', fields: COMPARED.filter((field) => isChanged(field, before, after)) }
  }
}

function dnsOccurrence(news: DnsNews): Occurrence {
  if (news.type === 'ns') return { kind: 'nameServers', hosts: news.to ?? [] }
  const hosts = news.to.map(({ exchange }) => exchange)
  return acceptsMail(news.to) ? { kind: 'mailBegins', hosts } : { kind: 'mailEnds', hosts: [] }
}

function isChanged(field: ComparedField, before: ChangedRecord | null, after: ChangedRecord | null): boolean {
  return before !== null && after !== null && before[field] !== after[field]
}
