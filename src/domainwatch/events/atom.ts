import { hash } from 'node:crypto'
import type { HttpReply, HttpRequest } from '../../http/server.ts'
import { matches } from '../../http/conditional.ts'
import { splitTags } from '../tags.ts'
import { dnsLine, dnsTitle } from './dns-news.ts'
import { recordIn, seenIn, type ChangedRecord, type DomainEvent } from './event.ts'

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8'
/** A feed without entries needs a date too. */
const EPOCH = new Date(0).toISOString()

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

/** A feed without its links, which depend on the request. */
export interface AtomFeed {
  readonly head: string
  readonly tail: string
}

/** Addresses of a feed. */
export interface FeedLinks {
  /** Where it was read: the key or the token in it is the reader's own, and readers subscribe to this address. */
  readonly self: string
  /** The same for people. */
  readonly alternate: string
}

export function entryOf(event: DomainEvent): AtomEntry {
  return {
    id: event.cursor,
    title: titleOf(event),
    updated: new Date(event.at).toISOString(),
    author: event.account ?? SERVICE,
    text: textOf(event),
    name: recordIn(event)?.name ?? '',
  }
}

const SERVICE = 'Catalejo'

/**
 * Returns an Atom feed (RFC 4287).
 * @param sheetUrl returns the address of a record for people
 */
export function atomFeed(
  id: string,
  title: string,
  entries: readonly AtomEntry[],
  sheetUrl: (name: string) => string,
): AtomFeed {
  const updated = entries.reduce((latest, entry) => (entry.updated > latest ? entry.updated : latest), EPOCH)
  return {
    head:
      `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="es">\n` +
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

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for XML 1.0. Characters that XML cannot represent even escaped are replaced by U+FFFD. */
function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character)
}

/** Answers with a feed, or with 304 if the client has it already. */
export function sendFeed(
  request: HttpRequest,
  reply: HttpReply,
  { head, tail }: AtomFeed,
  { self, alternate }: FeedLinks,
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

function titleOf(event: DomainEvent): string {
  const { before, after } = event
  const name = `${recordIn(event)?.name ?? ''}.cl`
  switch (event.kind) {
    case 'added':
      return after?.status === 1 ? `Registrado: ${name}` : `Anotado como libre: ${name}`
    case 'changed':
      if (before?.status === 1 && after?.status === 0) return `Eliminado: ${name}`
      if (before?.status === 0 && after?.status === 1) return `Registrado: ${name}`
      return `Modificado: ${name}`
    case 'discarded':
      return `Descartado: ${name}`
    case 'deleted':
      return `Borrado de la lista: ${name}`
    case 'dns':
      return event.dns === undefined ? name : dnsTitle(event.dns, name)
  }
}

function textOf(event: DomainEvent): string {
  const record = recordIn(event)
  if (record === null) return ''
  const { before } = event
  const lines = [
    `Dominio: ${record.name}.cl (${record.name.length} caracteres)`,
    ...(event.dns === undefined ? [] : [dnsLine(event.dns)]),
    changed('Estado', before?.status, record.status, (value) => (value === 1 ? 'comprado' : 'no comprado')),
    changed('Reservado', before?.reserved, record.reserved, yesOrNo),
    changed('En revisión', before?.revision, record.revision, yesOrNo),
    changed('Agente', before?.agent, record.agent, (value) => value),
    changed('Fecha de registro', before?.date_reg, record.date_reg, (value) => value),
    ...added('Visto', before && seenIn(before), seenIn(record), 0, yesOrNo),
    ...added('Nota', before && (before.note ?? ''), record.note ?? '', '', orNone),
    ...added('Etiquetas', before && tagsOf(before), tagsOf(record), '', orNone),
  ]
  return lines.join('\n')
}

const tagsOf = ({ tags }: ChangedRecord) => splitTags(tags).join(', ')
const orNone = (text: string) => (text === '' ? 'ninguna' : text)

const yesOrNo = (value: number) => (value === 1 ? 'sí' : 'no')

/** The line of a field that people add to some records; none if the record has and had only `nothing` there. */
function added<T>(label: string, before: T | null, now: T, nothing: T, show: (value: T) => string): string[] {
  const was = before ?? nothing
  return now === nothing && was === nothing ? [] : [changed(label, before ?? undefined, now, show)]
}

function changed<T>(label: string, before: T | undefined, now: T, show: (value: T) => string): string {
  const was = before === undefined || before === now ? '' : ` (antes: ${show(before)})`
  return `${label}: ${show(now)}${was}`
}
