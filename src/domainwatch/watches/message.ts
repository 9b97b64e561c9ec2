import type { PostOptions } from '../../deliveries/http-client.ts'
import type { Batching, ChannelName, Notice, Transport } from '../../deliveries/transport.ts'
import type { Clock } from '../../lib/clock.ts'
import { cleaned, describe, type ConsoleLinks, type Language, textsIn, type Texts } from '../texts.ts'
import { type DomainEvent, recordIn } from '../events/event.ts'
import { escapeHtml } from '../../lib/text.ts'

/** What messages show of their watch. */
export interface NotifiedWatch {
  readonly id: string
  readonly name: string
  readonly filters: Readonly<Record<string, string>>
  readonly language: Language
  /** Returns the name that one resembles, if the watch is about lookalikes. */
  readonly findBrand?: (name: string) => string | undefined
}

export type DomainNotice = Notice<DomainEvent>

/** A way to send messages of watches. */
export interface Channel extends Transport {
  /** Returns the body of a delivery to this address, which is stored before the first attempt. */
  render(watch: NotifiedWatch, notice: DomainNotice, address: string): string
  /**
   * Returns the body of a message that asks the reader of an address to confirm it. Channels that have it send nothing else to an
   * address before, and a limited number of messages a day.
   * @param token the secret part of the link
   */
  renderConfirmation?(language: Language, token: string): string
}

/** The channels that can be used, by name. */
export type Channels = ReadonlyMap<ChannelName, Channel>

/** What every channel over HTTP needs. */
export interface HttpChannelOptions extends PostOptions {
  readonly clock: Clock
  readonly links: ConsoleLinks
}

/** A message for people: soon, but one for everything that a bulk change brings. */
export const FOR_PEOPLE: Batching = { max: 1_000, beyond: 'counted', windowMs: 1_000 }

/** Characters of the name of a watch. */
const MAX_TITLE = 120
/** Characters of the link to the list. Filters may be much longer than a service takes in a message. */
const MAX_LINK = 1_000

/** One line of a message. */
interface MessageItem {
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

export function toMessage(watch: NotifiedWatch, notice: DomainNotice, links: ConsoleLinks): Message {
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
      const byName = Map.groupBy(notice.events, (event) => recordIn(event)?.name ?? '')
      const items = [...byName].flatMap(([one, events]): MessageItem[] => {
        const line = describe(events, texts, watch.findBrand)
        return line === undefined ? [] : [{ name: `${one}.cl`, url: links.sheet(one), detail: line.detail }]
      })
      const { omitted } = notice
      return { ...base, title: texts.news(name, items.length + omitted), items, omitted }
    }
  }
}

/** The message that asks the reader of an address whether it may get others. */
export function confirmationOf(language: Language, url: string): Message {
  const texts = textsIn(language)
  const link = { label: texts.confirm, url }
  return { title: texts.confirmTitle, intro: texts.confirmIntro, items: [], omitted: 0, link, texts }
}

/** How a service marks up text. Every function escapes what it is given. */
interface Markup {
  text(text: string): string
  title(text: string): string
  name(name: string, url: string): string
  link(label: string, url: string): string
}

export const plainText: Markup = {
  text: (text) => text,
  title: (text) => text,
  name: (name) => name,
  link: (label, url) => `${label}: ${url}`,
}

/** HTML of the Telegram Bot API. Names are code, because clients would turn them into links to the domains. */
export const telegramHtml: Markup = {
  text: (text) => escapeHtml(text),
  title: (text) => `<b>${escapeHtml(text)}</b>`,
  name: (name) => `<code>${escapeHtml(name)}</code>`,
  link: (label, url) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
}

const escapeSlack = (text: string) => escapeHtml(text, /[&<>]/g)

/** Text of Slack messages with `mrkdwn` off, where only `&`, `<` and `>` have a meaning. */
export const slackText: Markup = {
  text: escapeSlack,
  title: escapeSlack,
  name: escapeSlack,
  link: (label, url) => `<${escapeSlack(url)}|${escapeSlack(label)}>`,
}

/** Discord takes a backslash before any ASCII punctuation as an escape. */
const escapeDiscord = (text: string) => text.replaceAll(/[!-/:-@[-`{-~]/g, '\\$&')

/** Markdown of Discord messages. Names are code, where no escape exists, but they never contain a backtick. */
export const discordMarkdown: Markup = {
  text: escapeDiscord,
  title: (text) => `**${escapeDiscord(text)}**`,
  name: (name) => `\`${name.replaceAll('`', "'")}\``,
  link: (label, url) => `[${escapeDiscord(label)}](<${url}>)`,
}

export const mailHtml: Markup = {
  text: (text) => escapeHtml(text),
  title: (text) => `<h1 style="font-size:1.2em">${escapeHtml(text)}</h1>`,
  name: (name, url) => `<a href="${escapeHtml(url)}"><b>${escapeHtml(name)}</b></a>`,
  link: (label, url) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
}

interface Limits {
  /** Size of a text, in the unit of `max`. */
  readonly sizeOf: (text: string) => number
  readonly max: number
}

export const characters = (text: string): number => text.length
export const bytes = (text: string): number => Buffer.byteLength(text)

/** Lays out a message as lines, as many as fit, followed by the number of those that do not and a link to the console. */
export function layOut(message: Message, markup: Markup, limits: Limits): string {
  const head = [
    markup.title(message.title),
    ...(message.intro === undefined ? [] : [markup.text(message.intro)]),
  ]
  const lines = message.items.map(
    ({ name, url, detail }) => `• ${markup.name(name, url)}: ${markup.text(detail)}`,
  )
  const tail = (hidden: number) => [
    ...(hidden === 0 ? [] : [markup.text(message.texts.more(hidden))]),
    markup.link(message.link.label, message.link.url),
  ]
  const joined = (shown: number) =>
    [...head, ...lines.slice(0, shown), ...tail(lines.length - shown + message.omitted)].join('\n')
  return joined(largestFit(lines.length, (shown) => limits.sizeOf(joined(shown)) <= limits.max))
}

/** Returns the largest number from 0 to `max` that fits, where every smaller one does too. */
function largestFit(max: number, fits: (count: number) => boolean): number {
  // The whole may fit where one less does not, because it needs no line for the rest.
  if (fits(max)) return max
  let [low, high] = [0, max]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}
