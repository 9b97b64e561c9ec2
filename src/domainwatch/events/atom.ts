import { hash } from 'node:crypto'
import { recordIn, type DomainEvent } from './event.ts'

export const ATOM_TYPE = 'application/atom+xml; charset=utf-8'
/** Where nothing has happened yet there still has to be a date. */
const NEVER = new Date(0).toISOString()

/** What an entry shows of an event. */
export interface AtomEntry {
  /** What tells it from all others, for ever. */
  readonly id: string
  readonly title: string
  /** ISO 8601. */
  readonly updated: string
  readonly author: string
  readonly text: string
}

export function entryOf(event: DomainEvent): AtomEntry {
  return {
    id: event.cursor,
    title: titleOf(event),
    updated: new Date(event.at).toISOString(),
    author: event.account ?? SERVICE,
    text: textOf(event),
  }
}

const SERVICE = 'Catalejo'

/** An Atom feed (RFC 4287). Its address is not in it: that holds a key. */
export function atomFeed(id: string, title: string, entries: readonly AtomEntry[]): string {
  const updated = entries.reduce((latest, entry) => (entry.updated > latest ? entry.updated : latest), NEVER)
  return (
    `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="es">\n` +
    `<id>${urn(id)}</id>\n<title>${escape(title)}</title>\n<updated>${updated}</updated>\n` +
    `<author><name>${SERVICE}</name></author>\n<generator>${SERVICE}</generator>\n` +
    `${entries.map(entryXml).join('')}</feed>\n`
  )
}

function entryXml({ id, title, updated, author, text }: AtomEntry): string {
  return (
    `<entry>\n<id>${urn(id)}</id>\n<title>${escape(title)}</title>\n<updated>${updated}</updated>\n` +
    `<author><name>${escape(author)}</name></author>\n<content type="text">${escape(text)}</content>\n</entry>\n`
  )
}

/** A UUID made of a name (RFC 9562, version 8): the same for ever, wherever the service is reached. */
function urn(name: string): string {
  const hex = hash('sha256', name).slice(0, 32).split('')
  hex[12] = '8'
  hex[16] = '89ab'[Number.parseInt(hex[16] ?? '0', 16) & 3] ?? '8'
  const groups = [0, 8, 12, 16, 20].map((at, i, all) => hex.slice(at, all[i + 1]).join(''))
  return `urn:uuid:${groups.join('-')}`
}

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** As text of XML 1.0: what it cannot hold even escaped is replaced. */
function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character)
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
  }
}

function textOf(event: DomainEvent): string {
  const record = recordIn(event)
  if (record === null) return ''
  const { before } = event
  const lines = [
    `Dominio: ${record.name}.cl (${record.name.length} caracteres)`,
    changed('Estado', before?.status, record.status, (value) => (value === 1 ? 'comprado' : 'no comprado')),
    changed('Reservado', before?.reserved, record.reserved, yesOrNo),
    changed('En revisión', before?.revision, record.revision, yesOrNo),
    changed('Agente', before?.agent, record.agent, (value) => value),
    changed('Fecha de registro', before?.date_reg, record.date_reg, (value) => value),
  ]
  return lines.join('\n')
}

const yesOrNo = (value: number) => (value === 1 ? 'sí' : 'no')

function changed<T>(label: string, before: T | undefined, now: T, show: (value: T) => string): string {
  const was = before === undefined || before === now ? '' : ` (antes: ${show(before)})`
  return `${label}: ${show(now)}${was}`
}
