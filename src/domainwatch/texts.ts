import { countOf } from '../lib/text.ts'
import type { Occurrence } from './events/event.ts'
import { isFilterName, serializeFilters } from './filters.ts'

/** The languages of messages and Atom feeds of watches. */
export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** Reads a stored language. A newer version may know more. */
export const languageOf = (text: string): Language => LANGUAGES.find((one) => one === text) ?? 'es'

/** A term as a line of a message has it, and as an Atom feed does. */
type Term = readonly [inLine: string, inAtomFeed: string]

const es = {
  /** What happened to a name. */
  occurrences: {
    new: ['nuevo', 'Inscrito'],
    newFree: ['nuevo, libre', 'Anotado como libre'],
    released: ['eliminado', 'Eliminado'],
    registered: ['inscrito de nuevo', 'Inscrito'],
    changed: ['cambió', 'Modificado'],
    discarded: ['descartado', 'Descartado'],
    deleted: ['borrado de la lista', 'Borrado de la lista'],
    nameServers: ['cambió de servidores de nombres', 'Cambió de servidores de nombres'],
    mailBegins: ['empezó a recibir correo', 'Empezó a recibir correo'],
    mailEnds: ['dejó de recibir correo', 'Dejó de recibir correo'],
    objectionEnds: ['pronto vence el plazo de objeción', 'Pronto vence el plazo de objeción'],
  } satisfies Readonly<Record<Occurrence, Term>>,
  fields: {
    agent: ['agente', 'Agente'],
    reserved: ['reserva', 'Reservado'],
    revision: ['revisión', 'En revisión'],
    date_reg: ['fecha', 'Fecha de registro'],
    note: ['nota', 'Nota'],
    tags: ['etiquetas', 'Etiquetas'],
  } satisfies Readonly<Record<string, Term>>,
  /** The title of a message about this many names. */
  news: (watch: string, names: number) => `${watch}: ${names} ${names === 1 ? 'nombre' : 'nombres'}`,
  /** Precedes the name that another one resembles. */
  resembles: ['parecido a', 'Parecido a'] satisfies Term,
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
  domain: (name: string, length: number) =>
    `Dominio: ${name} (${length} ${length === 1 ? 'carácter' : 'caracteres'})`,
  status: 'Estado',
  /** By status. */
  statuses: ['libre', 'inscrito'],
  seen: 'Visto',
  nameServers: 'Servidores de nombres',
  mailServers: 'Servidores de correo',
  noDomain: 'el dominio no existe',
  noServers: 'ninguno',
  /** No note, or no tags. */
  none: 'ninguna',
  no: 'no',
  yes: 'sí',
  before: (value: string) => ` (antes: ${value})`,
}

/** The words of messages and Atom feeds in one language. */
export type Texts = typeof es

const en: Texts = {
  occurrences: {
    new: ['new', 'Registered'],
    newFree: ['new, free', 'Recorded as free'],
    released: ['deleted', 'Deleted'],
    registered: ['registered again', 'Registered'],
    changed: ['changed', 'Changed'],
    discarded: ['discarded', 'Discarded'],
    deleted: ['removed from the list', 'Removed from the list'],
    nameServers: ['new name servers', 'New name servers'],
    mailBegins: ['began to receive mail', 'Began to receive mail'],
    mailEnds: ['no longer receives mail', 'No longer receives mail'],
    objectionEnds: ['time for objections ends soon', 'Time for objections ends soon'],
  },
  fields: {
    agent: ['agent', 'Agent'],
    reserved: ['reservation', 'Reserved'],
    revision: ['review', 'In review'],
    date_reg: ['date', 'Date of registration'],
    note: ['note', 'Note'],
    tags: ['tags', 'Tags'],
  },
  news: (watch, names) => `${watch}: ${names} ${names === 1 ? 'name' : 'names'}`,
  resembles: ['resembles', 'Resembles'],
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
  domain: (name, length) => `Domain: ${name} (${countOf(length, 'character')})`,
  status: 'Status',
  statuses: ['free', 'registered'],
  seen: 'Seen',
  nameServers: 'Name servers',
  mailServers: 'Mail servers',
  noDomain: 'the domain does not exist',
  noServers: 'none',
  none: 'none',
  no: 'no',
  yes: 'yes',
  before: (value) => ` (before: ${value})`,
}

export const textsIn = (language: Language): Texts => (language === 'es' ? es : en)

export const CONFIRMATION_PATH = '/w/confirmar/'

/** Addresses in messages: of the console, whose paths and parameters are those of `console/app`, and to confirm a mail address. */
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
