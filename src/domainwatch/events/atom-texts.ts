import type { Occurrence } from './event.ts'

/** The languages of messages and Atom feeds of watches. */
export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** Reads a stored language. A newer version may know more. */
export const languageOf = (text: string): Language => LANGUAGES.find((one) => one === text) ?? 'es'

/** The words of Atom feeds in one language. */
export interface AtomTexts {
  /** The title of a feed, followed by what it is about. */
  readonly feed: string
  /** What happened, followed by the name it happened to. */
  readonly titles: Readonly<Record<Occurrence, string>>
  readonly domain: (name: string, length: number) => string
  readonly status: string
  readonly statuses: readonly [free: string, taken: string]
  readonly reserved: string
  readonly revision: string
  readonly agent: string
  readonly date: string
  readonly seen: string
  readonly note: string
  readonly tags: string
  readonly nameServers: string
  readonly mailServers: string
  readonly noDomain: string
  readonly noServers: string
  /** Of a note, or of tags. */
  readonly none: string
  readonly no: string
  readonly yes: string
  readonly before: (value: string) => string
  readonly gapTitle: string
  readonly gap: string
}

const es: AtomTexts = {
  feed: 'Dominios .cl',
  titles: {
    new: 'Registrado',
    newFree: 'Anotado como libre',
    released: 'Eliminado',
    registered: 'Registrado',
    changed: 'Modificado',
    discarded: 'Descartado',
    deleted: 'Borrado de la lista',
    nameServers: 'Cambió de servidores de nombres',
    mailBegins: 'Empezó a recibir correo',
    mailEnds: 'Dejó de recibir correo',
  },
  domain: (name, length) => `Dominio: ${name} (${length} caracteres)`,
  status: 'Estado',
  statuses: ['no comprado', 'comprado'],
  reserved: 'Reservado',
  revision: 'En revisión',
  agent: 'Agente',
  date: 'Fecha de registro',
  seen: 'Visto',
  note: 'Nota',
  tags: 'Etiquetas',
  nameServers: 'Servidores de nombres',
  mailServers: 'Servidores de correo',
  noDomain: 'el dominio no existe',
  noServers: 'ninguno',
  none: 'ninguna',
  no: 'no',
  yes: 'sí',
  before: (value) => ` (antes: ${value})`,
  gapTitle: 'Pueden faltar cambios anteriores',
  gap: 'Hubo cambios que ya no están disponibles: vuelva a leer la lista.',
}

const en: AtomTexts = {
  feed: '.cl domains',
  titles: {
    new: 'Registered',
    newFree: 'Recorded as free',
    released: 'Deleted',
    registered: 'Registered',
    changed: 'Changed',
    discarded: 'Discarded',
    deleted: 'Removed from the list',
    nameServers: 'New name servers',
    mailBegins: 'Began to receive mail',
    mailEnds: 'No longer receives mail',
  },
  domain: (name, length) => `Domain: ${name} (${length} characters)`,
  status: 'Status',
  statuses: ['free', 'registered'],
  reserved: 'Reserved',
  revision: 'In review',
  agent: 'Agent',
  date: 'Date of registration',
  seen: 'Seen',
  note: 'Note',
  tags: 'Tags',
  nameServers: 'Name servers',
  mailServers: 'Mail servers',
  noDomain: 'the domain does not exist',
  noServers: 'none',
  none: 'none',
  no: 'no',
  yes: 'yes',
  before: (value) => ` (before: ${value})`,
  gapTitle: 'Earlier changes may be missing',
  gap: 'Some changes are no longer available: read the list again.',
}

const all: Readonly<Record<Language, AtomTexts>> = { es, en }

export const atomTextsIn = (language: Language): AtomTexts => all[language]
