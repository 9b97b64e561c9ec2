import type { MxRecord } from '../../lib/dns/index.ts'
import type { Language } from '../language.ts'
import { splitTags } from '../tags.ts'
import { atomTextsIn, type AtomTexts } from './atom-texts.ts'
import {
  occurrenceOf,
  recordIn,
  seenIn,
  type ChangedRecord,
  type DnsNews,
  type DomainEvent,
} from './event.ts'

/** An entry, in the form in which watches store it. */
export interface AtomEntry {
  /** Unique and permanent. */
  readonly id: string
  readonly title: string
  /** ISO 8601. */
  readonly updated: string
  readonly author: string
  readonly text: string
  /** Name of the record. Missing in entries of older versions, and in those about no record. */
  readonly name?: string
}

export const SERVICE = 'Catalejo'

export function entryOf(event: DomainEvent, language: Language): AtomEntry {
  const texts = atomTextsIn(language)
  const name = recordIn(event)?.name ?? ''
  return {
    id: event.cursor,
    title: `${texts.titles[occurrenceOf(event)]}: ${name}.cl`,
    updated: new Date(event.at).toISOString(),
    author: event.account ?? SERVICE,
    text: textOf(event, texts),
    name,
  }
}

/** The entry that reports missing changes before it. */
export function gapEntry(id: string, at: number, language: Language): AtomEntry {
  const { gapTitle: title, gap: text } = atomTextsIn(language)
  return { id, title, updated: new Date(at).toISOString(), author: SERVICE, text }
}

function textOf(event: DomainEvent, texts: AtomTexts): string {
  const record = recordIn(event)
  return record === null ? '' : linesOf(record, event, texts).join('\n')
}

function linesOf(record: ChangedRecord, { before, dns }: DomainEvent, texts: AtomTexts): string[] {
  const yesOrNo = (value: number) => (value === 1 ? texts.yes : texts.no)
  const orNone = (text: string) => (text === '' ? texts.none : text)

  function changed<T>(label: string, was: T | undefined, now: T, show: (value: T) => string): string {
    return `${label}: ${show(now)}${was === undefined || was === now ? '' : texts.before(show(was))}`
  }

  /** The line of a field that people add to some records; none if the record has and had only `nothing` there. */
  function added<T>(label: string, read: (one: ChangedRecord) => T, nothing: T, show: (value: T) => string) {
    const was = before === null ? undefined : read(before)
    const now = read(record)
    return now === nothing && (was ?? nothing) === nothing ? [] : [changed(label, was, now, show)]
  }

  return [
    texts.domain(`${record.name}.cl`, record.name.length),
    ...(dns === undefined ? [] : [dnsLine(dns, texts)]),
    changed(texts.status, before?.status, record.status, (value) => texts.statuses[value === 1 ? 1 : 0]),
    changed(texts.reserved, before?.reserved, record.reserved, yesOrNo),
    changed(texts.revision, before?.revision, record.revision, yesOrNo),
    changed(texts.agent, before?.agent, record.agent, (value) => value),
    changed(texts.date, before?.date_reg, record.date_reg, (value) => value),
    ...added(texts.seen, seenIn, 0, yesOrNo),
    ...added(texts.note, ({ note }) => note ?? '', '', orNone),
    ...added(texts.tags, ({ tags }) => splitTags(tags).join(', '), '', orNone),
  ]
}

/** Returns what the DNS says and said, as a line of text. */
function dnsLine(news: DnsNews, texts: AtomTexts): string {
  const listed = (hosts: readonly string[] | null) =>
    hosts === null ? texts.noDomain : hosts.length === 0 ? texts.noServers : hosts.join(', ')
  if (news.type === 'ns') return `${texts.nameServers}: ${listed(news.to)}${texts.before(listed(news.from))}`
  const hosts = (records: readonly MxRecord[]) => listed(records.map(({ exchange }) => exchange))
  return `${texts.mailServers}: ${hosts(news.to)}${texts.before(hosts(news.from))}`
}
