import {
  type DnsNews,
  type DomainEvent,
  objectUntil,
  type Occurrence,
  occurrenceOf,
  recordIn,
} from './events/event.ts'
import { splitTags } from './filtered-record.ts'
import { isFilterName, serializeFilters } from './filters.ts'

/** The languages of messages and Atom feeds of watches. */
export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** Reads a stored language. A newer version may know more. */
export const languageOf = (text: string): Language => LANGUAGES.find((one) => one === text) ?? 'es'

const es = {
  /** What happened to a name. */
  occurrences: {
    new: 'nuevo',
    newFree: 'nuevo, libre',
    released: 'eliminado',
    registered: 'inscrito de nuevo',
    changed: 'cambió',
    discarded: 'descartado',
    deleted: 'borrado de la lista',
    nameServers: 'cambió de servidores de nombres',
    mailBegins: 'empezó a recibir correo',
    mailEnds: 'dejó de recibir correo',
    objectionEnds: 'pronto vence el plazo de objeción',
  } satisfies Readonly<Record<Occurrence, string>>,
  fields: {
    agent: 'agente',
    reserved: 'reserva',
    revision: 'revisión',
    date_reg: 'fecha',
    note: 'nota',
    tags: 'etiquetas',
  },
  /** The title of a message about this many names. */
  news: (watch: string, names: number) => `${watch}: ${names} ${names === 1 ? 'nombre' : 'nombres'}`,
  /** Precedes the name that another one resembles. */
  resembles: 'parecido a',
  testTitle: (watch: string) => `${watch}: prueba`,
  test: 'Los avisos de esta alerta llegan aquí.',
  gapTitle: (watch: string) => `${watch}: pueden faltar cambios`,
  gap: 'Hubo cambios que ya no están disponibles: vuelva a leer la lista.',
  /** What webhooks say of a test, and of missed changes. */
  webhookTest: 'Prueba del aviso',
  webhookGap: 'Pueden faltar cambios anteriores: vuelva a leer la lista',
  more: (count: number) => `y ${count} más`,
  open: 'Abrir en Catalejo',
  /** Why a mail was sent. */
  footer: (watch: string) => `Catalejo envía este mensaje por la alerta «${watch}».`,
  confirmTitle: 'Confirme su dirección de correo',
  confirmIntro:
    'Un miembro de un grupo que usa Catalejo pidió enviar a esta dirección avisos de dominios .cl. Si los quiere recibir, abra el ' +
    'enlace y confirme. Si no, no haga nada: no recibirá ninguno.',
  confirm: 'Confirmar',
  /** The title of an Atom feed, followed by what it is about. */
  atomFeed: 'Dominios .cl',
  atomGapTitle: 'Pueden faltar cambios anteriores',
}

/** The words of messages and Atom feeds in one language. */
export type Texts = typeof es

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
    objectionEnds: 'time for objections ends soon',
  },
  fields: {
    agent: 'agent',
    reserved: 'reservation',
    revision: 'review',
    date_reg: 'date',
    note: 'note',
    tags: 'tags',
  },
  news: (watch, names) => `${watch}: ${names} ${names === 1 ? 'name' : 'names'}`,
  resembles: 'resembles',
  testTitle: (watch) => `${watch}: test`,
  test: 'Notifications of this watch arrive here.',
  gapTitle: (watch) => `${watch}: changes may be missing`,
  gap: 'Some changes are no longer available: read the list again.',
  webhookTest: 'Test of the notification',
  webhookGap: 'Earlier changes may be missing: read the list again',
  more: (count) => `and ${count} more`,
  open: 'Open in Catalejo',
  footer: (watch) => `Catalejo sends this message for the watch “${watch}”.`,
  confirmTitle: 'Confirm your e-mail address',
  confirmIntro:
    'A member of a group that uses Catalejo asked to send notifications of .cl domains to this address. If you want to receive ' +
    'them, open the link and confirm. If not, do nothing: you will receive none.',
  confirm: 'Confirm',
  atomFeed: '.cl domains',
  atomGapTitle: 'Earlier changes may be missing',
}

export const textsIn = (language: Language): Texts => (language === 'es' ? es : en)

/** Limits of what a line shows, in characters, so that every message holds at least one line. */
const MAX_NOTE = 200
const MAX_AGENT = 60
/** Things that happened to one name. A digest may contain many. */
const MAX_OCCURRENCES = 4

/** Fields whose change is reported by name, in this order. */
const COMPARED = ['agent', 'reserved', 'revision', 'date_reg', 'note', 'tags'] as const

/**
 * Returns what happened to one name, in order, and a line of that and its record afterwards.
 * @param findBrand returns the name that one resembles, of a watch for lookalikes
 */
export function describe(
  events: readonly DomainEvent[],
  texts: Texts,
  findBrand?: (name: string) => string | undefined,
): { readonly happened: string; readonly detail: string } | undefined {
  const last = events.at(-1)
  const record = last && recordIn(last)
  if (!record) return undefined
  const { name, agent, note, tags } = record
  const phrases = events.map((event) => toPhrase(event, texts))
  const shown = phrases.filter((phrase, i) => phrase !== phrases[i - 1]).slice(-MAX_OCCURRENCES)
  const happened = shown.join(', ')
  const labelled = splitTags(tags).map((tag) => cleaned(tag, MAX_AGENT))
  const brand = findBrand?.(name)
  const parts = [
    happened,
    brand === undefined ? '' : `${texts.resembles} ${brand}.cl`,
    agent === '' ? '' : `${texts.fields.agent}: ${cleaned(agent, MAX_AGENT)}`,
    (note ?? '') === '' ? '' : `${texts.fields.note}: ${cleaned(note ?? '', MAX_NOTE)}`,
    labelled.length === 0 ? '' : `${texts.fields.tags}: ${labelled.join(', ')}`,
  ]
  return { happened, detail: parts.filter((part) => part !== '').join(' · ') }
}

/** Returns what happened, with the changed fields or the present name servers or mail servers in parentheses. */
function toPhrase(event: DomainEvent, texts: Texts): string {
  const { before, after, dns } = event
  const kind = occurrenceOf(event)
  const isChanged = (field: (typeof COMPARED)[number]) => before !== null && after?.[field] !== before[field]
  const fields = kind === 'changed' ? COMPARED.filter(isChanged).map((field) => texts.fields[field]) : []
  const hosts = kind === 'mailEnds' || dns === undefined ? [] : hostsIn(dns)
  const details = [...fields, ...hosts, objectUntil(event) ?? []].flat()
  const phrase = texts.occurrences[kind]
  return details.length === 0 ? phrase : `${phrase} (${cleaned(details.join(', '), MAX_NOTE)})`
}

const hostsIn = (news: DnsNews): readonly string[] =>
  news.type === 'ns' ? (news.to ?? []) : news.to.map(({ exchange }) => exchange)

/**
 * Puts a text of a user on one line: without line ends, control characters and directional overrides, which could fake other
 * lines or headers of the message.
 */
export function cleaned(text: string, max: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ')
    .trim()
  const characters = [...line]
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join('')}…`
}

export const CONFIRMATION_PATH = '/w/confirmar/'

/** Addresses in messages: of the console, whose paths and parameters are those of `console/shell`, and to confirm a mail address. */
export class ConsoleLinks {
  readonly #baseUrl: () => string

  constructor(baseUrl: () => string) {
    this.#baseUrl = baseUrl
  }

  /** Returns the address of a record's details. */
  readonly sheet = (name: string): string => this.#domains([['ficha', name]])

  /**
   * Returns the address of the list with these filters; other parameters are left out.
   * @param values of parameters; a flag is true or an empty text
   */
  view(values: Parameters<typeof serializeFilters>[0]): string {
    const filters = Object.entries(serializeFilters(values)).filter(([name]) => isFilterName(name))
    // The details of a name show its lookalikes, which the list cannot.
    const { similar } = values
    const isName = typeof similar === 'string' && !similar.includes(',')
    return this.#domains(isName ? [...filters, ['ficha', similar]] : filters)
  }

  /** Returns the address at which the reader of a mail address confirms it. */
  readonly confirmation = (token: string): string => `${this.#baseUrl()}${CONFIRMATION_PATH}${token}`

  #domains(query: readonly (readonly [string, string])[]): string {
    const text = new URLSearchParams(Object.fromEntries(query)).toString()
    return `${this.#baseUrl()}/console/dominios${text === '' ? '' : `?${text}`}`
  }
}
