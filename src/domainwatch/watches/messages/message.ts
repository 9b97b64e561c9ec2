import type { ConsoleLinks } from '../../console-links.ts'
import type { Notice, NotifiedWatch } from '../channels/channel.ts'
import { newsOf, textsIn, type DetailedOccurrence, type NewsItem, type Texts } from './texts.ts'

/** Limits of what a line shows, in characters, so that every message holds at least one line. */
const MAX_NOTE = 200
const MAX_AGENT = 60
const MAX_TITLE = 120
/** Characters of the link to the list. Filters may be much longer than a service takes in a message. */
const MAX_LINK = 1_000
/** Things that happened to one name. A digest may contain many. */
const MAX_OCCURRENCES = 4

/** One line of a message. */
export interface MessageItem {
  /** With its suffix. */
  readonly name: string
  /** The details of the name in the console. */
  readonly url: string
  readonly detail: string
}

/** A message for people, before any markup. */
export interface Message {
  readonly title: string
  readonly intro: string | undefined
  readonly items: readonly MessageItem[]
  /** Number of changes that the items leave out. */
  readonly omitted: number
  readonly link: { readonly label: string; readonly url: string }
  readonly texts: Texts
}

export function messageOf(watch: NotifiedWatch, notice: Notice, links: ConsoleLinks): Message {
  const texts = textsIn(watch.language)
  const name = cleaned(watch.name, MAX_TITLE)
  const filtered = links.view(watch.filters)
  const base = {
    link: { label: texts.open, url: filtered.length > MAX_LINK ? links.view({}) : filtered },
    intro: undefined,
    items: [],
    omitted: 0,
    texts,
  }
  switch (notice.kind) {
    case 'test':
      return { ...base, title: texts.testTitle(name), intro: texts.test }
    case 'gap':
      return { ...base, title: texts.gapTitle(name), intro: texts.gap }
    case 'changes': {
      const items = newsOf(notice.events).map((item) => ({
        name: `${item.name}.cl`,
        url: links.sheet(item.name),
        detail: detailOf(item, texts),
      }))
      const { omitted } = notice
      return { ...base, title: texts.news(name, items.length + omitted), items, omitted }
    }
  }
}

function detailOf({ occurrences, agent, note, tags }: NewsItem, texts: Texts): string {
  const happened = occurrences.map((one) => phraseOf(one, texts))
  const shown = happened.filter((phrase, i) => phrase !== happened[i - 1]).slice(-MAX_OCCURRENCES)
  return [
    shown.join(', '),
    agent === '' ? '' : `${texts.agent}: ${cleaned(agent, MAX_AGENT)}`,
    note === '' ? '' : `${texts.note}: ${cleaned(note, MAX_NOTE)}`,
    tags.length === 0 ? '' : `${texts.tags}: ${tags.map((tag) => cleaned(tag, MAX_AGENT)).join(', ')}`,
  ]
    .filter((part) => part !== '')
    .join(' · ')
}

function phraseOf({ kind, fields, hosts }: DetailedOccurrence, texts: Texts): string {
  const phrase = texts.occurrences[kind]
  const details = [...fields.map((field) => texts.fields[field]), ...hosts]
  return details.length === 0 ? phrase : `${phrase} (${cleaned(details.join(', '), MAX_NOTE)})`
}

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
