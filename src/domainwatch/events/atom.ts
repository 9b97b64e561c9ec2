import { hash } from 'node:crypto'
import type { HttpReply, HttpRequest } from '../../http/server.ts'
import { matches } from '../../http/headers.ts'
import { escapeHtml } from '../../lib/text.ts'
import { textsIn, type Language, type Texts } from '../texts.ts'
import type { MxRecord } from '../../lib/dns/index.ts'
import { splitTags, type ChangedRecord } from '../filtered-record.ts'
import { occurrenceOf, recordIn, seenIn, type DnsNews, type DomainEvent } from './event.ts'

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

const SERVICE = 'Catalejo'

/** @param findBrand returns the name that one resembles, of a watch for lookalikes */
export function entryOf(
  event: DomainEvent,
  language: Language,
  findBrand?: (name: string) => string | undefined,
): AtomEntry {
  const texts = textsIn(language)
  const name = recordIn(event)?.name ?? ''
  const brand = findBrand?.(name)
  return {
    id: event.cursor,
    title: `${texts.occurrences[occurrenceOf(event)][1]}: ${name}.cl`,
    updated: new Date(event.at).toISOString(),
    author: event.account ?? SERVICE,
    text: `${textOf(event, texts)}${brand === undefined ? '' : `\n${texts.resembles[1]}: ${brand}.cl`}`,
    name,
  }
}

/** The entry that reports missing changes before it. */
export function gapEntry(id: string, at: number, language: Language): AtomEntry {
  const { atomGapTitle: title, gap: text } = textsIn(language)
  return { id, title, updated: new Date(at).toISOString(), author: SERVICE, text }
}

function textOf(event: DomainEvent, texts: Texts): string {
  const record = recordIn(event)
  return record === null ? '' : toLines(record, event, texts).join('\n')
}

function toLines(record: ChangedRecord, { before, dns }: DomainEvent, texts: Texts): string[] {
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
    changed(texts.status, before?.status, record.status, (value) => texts.statuses[value] ?? ''),
    changed(texts.fields.reserved[1], before?.reserved, record.reserved, yesOrNo),
    changed(texts.fields.revision[1], before?.revision, record.revision, yesOrNo),
    changed(texts.fields.agent[1], before?.agent, record.agent, (value) => value),
    changed(texts.fields.date_reg[1], before?.date_reg, record.date_reg, (value) => value),
    ...added(texts.seen, seenIn, 0, yesOrNo),
    ...added(texts.fields.note[1], ({ note }) => note ?? '', '', orNone),
    ...added(texts.fields.tags[1], ({ tags }) => splitTags(tags).join(', '), '', orNone),
  ]
}

/** Returns what the DNS says and said, as a line of text. */
function dnsLine(news: DnsNews, texts: Texts): string {
  const listed = (hosts: readonly string[] | null) =>
    hosts === null ? texts.noDomain : hosts.length === 0 ? texts.noServers : hosts.join(', ')
  if (news.type === 'ns') return `${texts.nameServers}: ${listed(news.to)}${texts.before(listed(news.from))}`
  const hosts = (records: readonly MxRecord[]) => listed(records.map(({ exchange }) => exchange))
  return `${texts.mailServers}: ${hosts(news.to)}${texts.before(hosts(news.from))}`
}

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8'
/** An Atom feed without entries needs a date too. */
const EPOCH = new Date(0).toISOString()

/** An Atom feed without its links, which depend on the request. */
export interface AtomFeed {
  readonly head: string
  readonly tail: string
}

export interface AtomFeedLinks {
  /** Where it was read: the key or the token in it is the reader's own, and readers subscribe to this address. */
  readonly self: string
  /** The same for people. */
  readonly alternate: string
}

/**
 * Returns an Atom feed (RFC 4287).
 * @param about follows the beginning of the title that all Atom feeds have
 * @param sheetUrl returns the address of a record for people
 */
export function atomFeed(
  id: string,
  about: string,
  entries: readonly AtomEntry[],
  sheetUrl: (name: string) => string,
  language: Language,
): AtomFeed {
  const updated = entries.reduce((latest, entry) => (entry.updated > latest ? entry.updated : latest), EPOCH)
  const title = `${textsIn(language).atomFeed}: ${about}`
  return {
    head:
      `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language}">\n` +
      `<id>${urn(id)}</id>\n<title>${escape(title)}</title>\n<updated>${updated}</updated>\n`,
    tail:
      `<author><name>${SERVICE}</name></author>\n<generator>${SERVICE}</generator>\n` +
      `${entries.map((entry) => entryXml(entry, sheetUrl)).join('')}</feed>\n`,
  }
}

function entryXml(
  { id, title, updated, author, text, name = '' }: AtomEntry,
  sheetUrl: (name: string) => string,
): string {
  const link = name === '' ? '' : linkXml('alternate', sheetUrl(name), 'text/html')
  return (
    `<entry>\n<id>${urn(id)}</id>\n<title>${escape(title)}</title>\n<updated>${updated}</updated>\n${link}` +
    `<author><name>${escape(author)}</name></author>\n<content type="text">${escape(text)}</content>\n</entry>\n`
  )
}

function linkXml(rel: string, href: string, type: string): string {
  return `<link rel="${rel}" type="${type}" href="${escape(href)}"/>\n`
}

/** Derives a UUID from a name (RFC 9562, version 8), so ids do not depend on time or on the address of the service. */
function urn(name: string): string {
  const hex = hash('sha256', name).slice(0, 32).split('')
  hex[12] = '8'
  hex[16] = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3] ?? '8'
  const groups = [0, 8, 12, 16, 20].map((at, i, all) => hex.slice(at, all[i + 1]).join(''))
  return `urn:uuid:${groups.join('-')}`
}

/** Escapes text for XML 1.0. Characters that XML cannot represent even escaped are replaced by U+FFFD. */
function escape(text: string): string {
  return escapeHtml(text.toWellFormed().replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd'))
}

/** Answers with an Atom feed, or with 304 if the client has it already. */
export function sendAtomFeed(
  request: HttpRequest,
  reply: HttpReply,
  { head, tail }: AtomFeed,
  { self, alternate }: AtomFeedLinks,
): string | null {
  const links = linkXml('self', self, 'application/atom+xml') + linkXml('alternate', alternate, 'text/html')
  const feed = head + links + tail
  const etag = `"${hash('sha256', feed, 'base64url').slice(0, 27)}"`
  reply.headers({ etag, 'cache-control': 'no-store', 'content-type': ATOM_TYPE })
  if (!matches(request.headers['if-none-match'], etag)) return feed
  reply.code(304)
  // Fastify needs a string for HEAD, and sets Content-Length for any other string.
  return request.method === 'HEAD' ? '' : null
}
