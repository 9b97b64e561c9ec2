import type { Language } from '../../events/atom-texts.ts'
import { splitTags } from '../../tags.ts'
import {
  occurrenceOf,
  recordIn,
  type ChangedRecord,
  type DnsNews,
  type DomainEvent,
  type Occurrence,
} from '../../events/event.ts'

/** Fields whose change is reported by name, in this order. */
const COMPARED = ['agent', 'reserved', 'revision', 'date_reg', 'note', 'tags'] as const
type ComparedField = (typeof COMPARED)[number]

/** What happened to a name, with the details that messages give in parentheses. */
export interface DetailedOccurrence {
  readonly kind: Occurrence
  /** Changed fields. */
  readonly fields: readonly ComparedField[]
  /** Present name servers or mail servers. */
  readonly hosts: readonly string[]
}

/** What happened to one name, in order, and its record afterwards. */
export interface NewsItem {
  readonly name: string
  readonly occurrences: readonly DetailedOccurrence[]
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
    return [{ name, occurrences: all.map(withDetails), agent, note: note ?? '', tags: splitTags(tags) }]
  })
}

function withDetails(event: DomainEvent): DetailedOccurrence {
  const { before, after, dns } = event
  const kind = occurrenceOf(event)
  return {
    kind,
    fields: kind === 'changed' ? COMPARED.filter((field) => isChanged(field, before, after)) : [],
    hosts: kind === 'mailEnds' || dns === undefined ? [] : hostsIn(dns),
  }
}

const hostsIn = (news: DnsNews): readonly string[] =>
  news.type === 'ns' ? (news.to ?? []) : news.to.map(({ exchange }) => exchange)

function isChanged(field: ComparedField, before: ChangedRecord | null, after: ChangedRecord | null): boolean {
  return before !== null && after !== null && before[field] !== after[field]
}

/** The words of messages in one language. */
export interface Texts {
  readonly occurrences: Readonly<Record<Occurrence, string>>
  readonly fields: Readonly<Record<ComparedField, string>>
  readonly agent: string
  readonly note: string
  readonly tags: string
  /** The title of a message about this many names. */
  readonly news: (watch: string, names: number) => string
  readonly testTitle: (watch: string) => string
  readonly test: string
  readonly gapTitle: (watch: string) => string
  readonly gap: string
  /** The same two for programs. */
  readonly webhookTest: string
  readonly webhookGap: string
  readonly more: (count: number) => string
  readonly open: string
  /** Why a mail was sent. */
  readonly footer: (watch: string) => string
}

const es: Texts = {
  occurrences: {
    new: 'nuevo',
    newFree: 'nuevo, libre',
    released: 'eliminado',
    registered: 'registrado de nuevo',
    changed: 'cambió',
    discarded: 'descartado',
    deleted: 'borrado de la lista',
    nameServers: 'cambió de servidores de nombres',
    mailBegins: 'empezó a recibir correo',
    mailEnds: 'dejó de recibir correo',
  },
  fields: {
    agent: 'agente',
    reserved: 'reserva',
    revision: 'revisión',
    date_reg: 'fecha',
    note: 'nota',
    tags: 'etiquetas',
  },
  agent: 'agente',
  note: 'nota',
  tags: 'etiquetas',
  news: (watch, names) => `${watch}: ${names} ${names === 1 ? 'nombre' : 'nombres'}`,
  testTitle: (watch) => `${watch}: prueba`,
  test: 'Los avisos de esta vigilancia llegan aquí.',
  gapTitle: (watch) => `${watch}: pueden faltar cambios`,
  gap: 'Hubo cambios que ya no están disponibles: vuelva a leer la lista.',
  webhookTest: 'Prueba del aviso',
  webhookGap: 'Pueden faltar cambios anteriores: vuelva a leer la lista',
  more: (count) => `y ${count} más`,
  open: 'Abrir en Catalejo',
  footer: (watch) => `Catalejo envía este mensaje por la vigilancia «${watch}».`,
}

const en: Texts = {
  occurrences: {
    new: 'new',
    newFree: 'new, free',
    released: 'deleted',
    registered: 'registered again',
    changed: 'changed',
    discarded: 'discarded',
    deleted: 'removed from the list',
    nameServers: 'new name servers',
    mailBegins: 'began to receive mail',
    mailEnds: 'no longer receives mail',
  },
  fields: {
    agent: 'agent',
    reserved: 'reservation',
    revision: 'review',
    date_reg: 'date',
    note: 'note',
    tags: 'tags',
  },
  agent: 'agent',
  note: 'note',
  tags: 'tags',
  news: (watch, names) => `${watch}: ${names} ${names === 1 ? 'name' : 'names'}`,
  testTitle: (watch) => `${watch}: test`,
  test: 'Notifications of this watch arrive here.',
  gapTitle: (watch) => `${watch}: changes may be missing`,
  gap: 'Some changes are no longer available: read the list again.',
  webhookTest: 'Test of the notification',
  webhookGap: 'Earlier changes may be missing: read the list again',
  more: (count) => `and ${count} more`,
  open: 'Open in Catalejo',
  footer: (watch) => `Catalejo sends this message for the watch “${watch}”.`,
}

const all: Readonly<Record<Language, Texts>> = { es, en }

export const textsIn = (language: Language): Texts => all[language]
