import { hash } from 'node:crypto'
import type { HttpReply, HttpRequest } from '../../http/server.ts'
import { matches } from '../../http/headers.ts'
import { escapeHtml } from '../../lib/text.ts'
import { describe, textsIn, type Language } from '../texts.ts'
import { recordIn, type DomainEvent } from './event.ts'

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
  const name = recordIn(event)?.name ?? ''
  const line = describe([event], textsIn(language), findBrand)
  return {
    id: event.cursor,
    title: `${name}.cl: ${line?.happened ?? ''}`,
    updated: new Date(event.at).toISOString(),
    author: event.account ?? SERVICE,
    text: line?.detail ?? '',
    name,
  }
}

/** The entry that reports missing changes before it. */
export function gapEntry(id: string, at: number, language: Language): AtomEntry {
  const { atomGapTitle: title, gap: text } = textsIn(language)
  return { id, title, updated: new Date(at).toISOString(), author: SERVICE, text }
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
