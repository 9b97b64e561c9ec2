import { additionCost, octetsOf, omissionCost, PLURAL, TRANSPOSITION, type Alignment } from './alignment.ts'
import { HYPHEN, pairOf, replacementOf } from './letters.ts'
import type { Matcher } from './matcher.ts'
import { CONNECTOR, CONNECTORS, MIN_WORD_COST } from './inside.ts'

/** Tokens that clients may rely on: the kinds of change that `dnstwist` tells apart, and accents and words. */
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

/** One change on the way from a name to another. */
export interface Change {
  readonly reason: Reason
  readonly cost: number
  /** Spanish, to be shown. */
  readonly text: string
}

/** The changes that make the other name, in its order. Both were found to resemble each other. */
export function explain(matcher: Matcher, name: string, other: string): readonly Change[] {
  const octets = octetsOf(other)
  const { alignment, containment } = matcher
  const changed = matcher.changedCost(octets, 0, octets.length)
  const inside = containment.find(octets, 0, octets.length)
  const below = matcher.parentCost(octets, 0, octets.length)
  if (below < Math.min(changed, inside.cost)) {
    const subdomain = name.slice(0, name.length - other.length)
    return [{ reason: 'subdomain', cost: below, text: `«${subdomain}» puede ser un subdominio` }]
  }
  if (changed <= inside.cost) return walk(alignment, name, other)
  const { from, to } = inside
  const { core, connector } = withoutConnector(alignment, other.slice(from, to))
  const words = [other.slice(0, from), other.slice(to)].flatMap((text): Change[] => {
    const word = text.replace(/^-|-$/g, '')
    return word === '' ? [] : [{ reason: 'word', cost: MIN_WORD_COST, text: `con «${word}»` }]
  })
  return [...words, ...connector, ...(core === name ? [] : walk(alignment, name, core))]
}

/** What is left of `core` without a connector inside it, if that is the cheaper way to make it. */
function withoutConnector(alignment: Alignment, core: string) {
  const costOf = (text: string) => alignment.cost(octetsOf(text), 0, text.length, Infinity)
  let best = { core, connector: [] as readonly Change[], cost: costOf(core) }
  for (const word of CONNECTORS) {
    for (
      let at = core.indexOf(word, 1);
      at > 0 && at + word.length < core.length;
      at = core.indexOf(word, at + 1)
    ) {
      const rest = core.slice(0, at) + core.slice(at + word.length)
      const cost = costOf(rest) + CONNECTOR
      const connector: Change = { reason: 'word', cost: CONNECTOR, text: `con «${word}» en medio` }
      if (cost < best.cost) best = { core: rest, connector: [connector], cost }
    }
  }
  costOf(best.core)
  return best
}

interface Step extends Change {
  /** Letters of the name and of the other that it took. */
  readonly taken: number
  readonly given: number
}

/** Goes back through the table that the alignment filled. */
function walk(alignment: Alignment, name: string, other: string): readonly Change[] {
  const changes: Change[] = []
  let i = name.length
  let j = other.length
  while (i > 0 || j > 0) {
    const step = stepsTo(name, other, i, j).find(
      ({ cost, taken, given }) =>
        i >= taken && j >= given && alignment.at(i, j) === alignment.at(i - taken, j - given) + cost,
    )
    if (step === undefined) throw new Error('an alignment that is none')
    if (step.cost > 0) changes.unshift(step)
    i -= step.taken
    j -= step.given
  }
  return changes
}

/** All ways to come to this place; the first that costs what the table says is told. */
function stepsTo(name: string, other: string, i: number, j: number): Step[] {
  const own = name[i - 1] ?? ''
  const letter = other[j - 1] ?? ''
  const steps: Step[] = []
  const instead = (to: string, from: string) => `«${to}» por «${from}»`
  if (i > 0 && j > 0) {
    const { cost, kind } =
      own === letter
        ? { cost: 0, kind: 'accent' as const }
        : replacementOf(own.charCodeAt(0), letter.charCodeAt(0))
    steps.push({ reason: kind, cost, text: instead(letter, own), taken: 1, given: 1 })
    const [two, otherTwo] = [name.slice(i - 2, i), other.slice(j - 2, j)]
    if (
      i > 1 &&
      j > 1 &&
      own !== letter &&
      two === `${letter}${other[j - 2] ?? ''}` &&
      own === other[j - 2]
    ) {
      steps.push({
        reason: 'transposition',
        cost: TRANSPOSITION,
        text: instead(otherTwo, two),
        taken: 2,
        given: 2,
      })
    }
    const split = pairOf(other.charCodeAt(j - 2), other.charCodeAt(j - 1))
    if (j > 1 && split?.one === own) {
      steps.push({ reason: 'homoglyph', cost: split.cost, text: instead(otherTwo, own), taken: 1, given: 2 })
    }
    const joined = pairOf(name.charCodeAt(i - 2), name.charCodeAt(i - 1))
    if (i > 1 && joined?.one === letter) {
      steps.push({ reason: 'homoglyph', cost: joined.cost, text: instead(letter, two), taken: 2, given: 1 })
    }
  }
  const isEnd = i === name.length && j === other.length
  if (isEnd && letter === 's' && other.length > 1) {
    steps.push({ reason: 'plural', cost: PLURAL, text: 'en plural', taken: 0, given: 1 })
  }
  if (isEnd && own === 's' && name.length > 1) {
    steps.push({ reason: 'plural', cost: PLURAL, text: 'en singular', taken: 1, given: 0 })
  }
  if (j > 0) {
    const [before, after] = [other[j - 2] ?? '', other[j] ?? '']
    const codes = [letter, before, after].map((text) => text.charCodeAt(0) || 0)
    const cost = additionCost(codes[0] ?? 0, codes[1] ?? 0, codes[2] ?? 0)
    steps.push({ ...addition(letter, before, isEnd), cost, taken: 0, given: 1 })
  }
  if (i > 0) steps.push({ ...omission(own, name[i - 2] ?? ''), taken: 1, given: 0 })
  return steps
}

function addition(letter: string, before: string, isEnd: boolean): Pick<Change, 'reason' | 'text'> {
  if (letter === '-') return { reason: 'hyphenation', text: 'con guion' }
  if (letter === before) return { reason: 'repetition', text: `«${letter}» repetida` }
  if (isEnd) return { reason: 'addition', text: `con «${letter}» al final` }
  return { reason: 'insertion', text: `con «${letter}» de más` }
}

function omission(letter: string, before: string): Change {
  const cost = omissionCost(letter.charCodeAt(0), before.charCodeAt(0) || 0)
  if (letter.charCodeAt(0) === HYPHEN) return { reason: 'hyphenation', cost, text: 'sin guion' }
  return { reason: 'omission', cost, text: `sin «${letter}»` }
}
