import type { Language } from '../channels/channel.ts'
import type { ComparedField, Occurrence } from './news.ts'

type Phrase = Exclude<Occurrence['kind'], 'changed'>

/** The words of messages in one language. */
export interface Texts {
  readonly occurrences: Readonly<Record<Phrase, string>>
  readonly changed: string
  readonly fields: Readonly<Record<ComparedField, string>>
  readonly agent: string
  readonly note: string
  readonly tags: string
  /** The title of a message about so many names. */
  readonly news: (watch: string, names: number) => string
  readonly testTitle: (watch: string) => string
  readonly test: string
  readonly gapTitle: (watch: string) => string
  readonly gap: string
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
    discarded: 'descartado',
    deleted: 'borrado de la lista',
    nameServers: 'cambió de servidores de nombres',
    mailBegins: 'empezó a recibir correo',
    mailEnds: 'dejó de recibir correo',
  },
  changed: 'cambió',
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
    discarded: 'discarded',
    deleted: 'removed from the list',
    nameServers: 'new name servers',
    mailBegins: 'began to receive mail',
    mailEnds: 'receives no more mail',
  },
  changed: 'changed',
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
  more: (count) => `and ${count} more`,
  open: 'Open in Catalejo',
  footer: (watch) => `Catalejo sends this message for the watch “${watch}”.`,
}

const all: Readonly<Record<Language, Texts>> = { es, en }

export const textsIn = (language: Language): Texts => all[language]
