import type { Occurrence } from './event.ts'

/** The languages of messages and Atom feeds of watches. */
export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** Reads a stored language. A newer version may know more. */
export const languageOf = (text: string): Language => LANGUAGES.find((one) => one === text) ?? 'es'

const es = {
  /** The title of a feed, followed by what it is about. */
  feed: 'Dominios .cl',
  /** What happened, followed by the name it happened to. */
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
  } satisfies Readonly<Record<Occurrence, string>>,
  domain: (name: string, length: number) => `Dominio: ${name} (${length} caracteres)`,
  status: 'Estado',
  statuses: { 0: 'no comprado', 1: 'comprado' },
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
  /** Of a note, or of tags. */
  none: 'ninguna',
  no: 'no',
  yes: 'sí',
  before: (value: string) => ` (antes: ${value})`,
  gapTitle: 'Pueden faltar cambios anteriores',
  gap: 'Hubo cambios que ya no están disponibles: vuelva a leer la lista.',
}

/** The words of Atom feeds in one language. */
export type AtomTexts = typeof es

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
  statuses: { 0: 'free', 1: 'registered' },
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
