import type { Occurrence } from './events/event.ts'

/** The languages of messages and Atom feeds of watches. */
export const LANGUAGES = ['es', 'en'] as const
export type Language = (typeof LANGUAGES)[number]

/** Reads a stored language. A newer version may know more. */
export const languageOf = (text: string): Language => LANGUAGES.find((one) => one === text) ?? 'es'

const es = {
  /** What happened to a name, in a line of a message. */
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
  } satisfies Readonly<Record<Occurrence, string>>,
  /** Fields of a record, in a line of a message. */
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
  testTitle: (watch: string) => `${watch}: prueba`,
  test: 'Los avisos de esta vigilancia llegan aquí.',
  gapTitle: (watch: string) => `${watch}: pueden faltar cambios`,
  gap: 'Hubo cambios que ya no están disponibles: vuelva a leer la lista.',
  /** What webhooks say of a test, and of missed changes. */
  webhookTest: 'Prueba del aviso',
  webhookGap: 'Pueden faltar cambios anteriores: vuelva a leer la lista',
  more: (count: number) => `y ${count} más`,
  open: 'Abrir en Catalejo',
  /** Why a mail was sent. */
  footer: (watch: string) => `Catalejo envía este mensaje por la vigilancia «${watch}».`,
  confirmTitle: 'Confirme su dirección de correo',
  confirmIntro:
    'Un miembro de un grupo que usa Catalejo pidió enviar a esta dirección avisos de dominios .cl. Si los quiere recibir, abra el ' +
    'enlace y confirme. Si no, no haga nada: no recibirá ninguno.',
  confirm: 'Confirmar',
  atom: {
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
  },
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
  atom: {
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
  },
}

const all: Readonly<Record<Language, Texts>> = { es, en }

export const textsIn = (language: Language): Texts => all[language]
