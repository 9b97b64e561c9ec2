import { Step, CONNECTOR_COST, CONNECTORS, type AlignedStep, type Distance } from './distance.ts'
import { MIN_WORD_COST } from './containment.ts'
import { toOctets, toReplacement } from './letters.ts'
import type { Matcher } from './matcher.ts'

/** Stable tokens: the kinds of change that `dnstwist` distinguishes, accents and words. */
export const REASONS = [
  'accent',
  'homoglyph',
  'hyphenation',
  'transposition',
  'repetition',
  'plural',
  'vowel-swap',
  'replacement',
  'bitsquatting',
  'omission',
  'insertion',
  'addition',
  'word',
  'subdomain',
] as const
export type Reason = (typeof REASONS)[number]

/** One change between a name and another. */
export interface Change {
  readonly reason: Reason
  readonly cost: number
  /** Spanish, to be shown to users. */
  readonly text: string
}

/** Returns the changes that make `other` from `name`, in its order. The matcher must have found that they resemble each other. */
export function explain(matcher: Matcher, name: string, other: string): readonly Change[] {
  const octets = toOctets(other)
  const edited = matcher.editedCost(octets, 0, octets.length)
  const inside = matcher.containment.find(octets, 0, octets.length)
  const parent = matcher.parentCost(octets, 0, octets.length)
  if (parent < Math.min(edited, inside.cost)) {
    const subdomain = name.slice(0, name.length - other.length)
    return [{ reason: 'subdomain', cost: parent, text: `«${subdomain}» puede ser un subdominio` }]
  }
  if (edited <= inside.cost) return edits(matcher.distance, name, other)
  const { from, to } = inside
  const { core, connector } = withoutConnector(matcher.distance, other.slice(from, to))
  const words = [other.slice(0, from), other.slice(to)].flatMap((text): Change[] => {
    const word = text.replace(/^-|-$/g, '')
    return word === '' ? [] : [{ reason: 'word', cost: MIN_WORD_COST, text: `con «${word}»` }]
  })
  return [...words, ...connector, ...(core === name ? [] : edits(matcher.distance, name, core))]
}

/** Removes a connector from inside `core` if that makes it cheaper. */
function withoutConnector(distance: Distance, core: string) {
  const getCost = (text: string) => distance.compare(toOctets(text), 0, text.length, Infinity)
  let best = { core, connector: [] as readonly Change[], cost: getCost(core) }
  for (const word of CONNECTORS) {
    for (let at = core.indexOf(word, 1); at > 0; at = core.indexOf(word, at + 1)) {
      if (at + word.length >= core.length) break
      const rest = core.slice(0, at) + core.slice(at + word.length)
      const cost = getCost(rest) + CONNECTOR_COST
      const connector: Change = { reason: 'word', cost: CONNECTOR_COST, text: `con «${word}» en medio` }
      if (cost < best.cost) best = { core: rest, connector: [connector], cost }
    }
  }
  return best
}

function edits(distance: Distance, name: string, other: string): Change[] {
  return distance
    .align(other)
    .filter(({ cost }) => cost > 0)
    .map((step) => ({ ...describe(name, other, step), cost: step.cost }))
}

function describe(name: string, other: string, aligned: AlignedStep): Pick<Change, 'reason' | 'text'> {
  const { step, i, j, ownLetters, otherLetters } = aligned
  const own = name.slice(i - ownLetters, i)
  const letters = other.slice(j - otherLetters, j)
  const instead = `«${letters}» por «${own}»`
  switch (step) {
    case Step.replacement:
      return { reason: toReplacement(own.charCodeAt(0), letters.charCodeAt(0)).kind, text: instead }
    case Step.transposition:
      return { reason: 'transposition', text: instead }
    case Step.split:
    case Step.join:
      return { reason: 'homoglyph', text: instead }
    case Step.pluralAdded:
      return { reason: 'plural', text: 'en plural' }
    case Step.pluralRemoved:
      return { reason: 'plural', text: 'en singular' }
    case Step.omission:
      return own === '-'
        ? { reason: 'hyphenation', text: 'sin guion' }
        : { reason: 'omission', text: `sin «${own}»` }
  }
  if (letters === '-') return { reason: 'hyphenation', text: 'con guion' }
  if (letters === other[j - 2]) return { reason: 'repetition', text: `«${letters}» repetida` }
  const isLast = i === name.length && j === other.length
  if (isLast) return { reason: 'addition', text: `con «${letters}» al final` }
  return { reason: 'insertion', text: `con «${letters}» de más` }
}
