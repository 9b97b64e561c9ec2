import type { Markup } from './markup.ts'
import type { Message } from './message.ts'

export interface Limits {
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
