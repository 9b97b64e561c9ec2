/**
 * Finds texts of an OpenAPI document that are not sentences, or make sense only next to others. A summary begins with an
 * imperative. Each sentence about an operation begins with one on -s or contains another verb. No description begins with a reference.
 */

/** Beginnings of summaries. Many are nouns too, so that they count as verbs only at the beginning. */
const IMPERATIVES = new Set(
  `accept answer ban cancel change check claim compare continue count cover create define delete diagnose edit export find forget get group
  ignore import lift list look mark move name need preview read record redirect refuse release replace restore return revoke save send set
  show skip sort stop store stream support take undo update upload wait`.split(/\s+/),
)
const VERBS = new Set(
  `accept allow apply arrive begin contain decide delete differ edit equal expire find get hold ignore keep let make mean move need read remove
  resume return serve show skip stay stop`.split(/\s+/),
)
const AUXILIARIES = new Set('are can cannot does has have is may must was were will'.split(' '))

/** Beginnings that refer to a text next to this one. */
const REFERS_TO_NEIGHBOUR = /^(?:Of|Those|Their|When|Until when|The same|In it|It|They)\b/

interface Operation {
  readonly summary?: string
  readonly description?: string
}

/** Returns a line for each problem. */
export function findDescriptionProblems(document: object): string[] {
  const operations = Object.entries(Object(document).paths ?? {}).flatMap(([path, methods]) =>
    Object.entries<Operation>(Object(methods)).map(([method, operation]) => ({
      name: `${method} ${path}`,
      operation,
    })),
  )
  const problems = operations.flatMap(({ name, operation: { summary = '', description = '' } }) => [
    ...(IMPERATIVES.has(wordsIn(summary)[0] ?? '')
      ? []
      : [`${name}: begin the summary «${summary}» with a verb`]),
    ...description
      .split(/(?<=[.!?])\s+/)
      .filter((sentence) => sentence !== '' && !hasVerb(wordsIn(sentence)))
      .map((sentence) => `${name}: add a verb to «${sentence}»`),
  ])
  const dangling = new Set(textsIn(document).filter((text) => REFERS_TO_NEIGHBOUR.test(text)))
  return [...problems, ...[...dangling].map((text) => `«${text}» has to be clear without its neighbours`)]
}

const wordsIn = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []

const toStem = (word: string): string => word.replace(/(?<=s)es$|(?<!s)s$/, '')

function hasVerb([first = '', ...others]: readonly string[]): boolean {
  const isVerb = (word: string) => AUXILIARIES.has(word) || VERBS.has(toStem(word))
  return IMPERATIVES.has(toStem(first)) || [first, ...others].some(isVerb)
}

/** All descriptions, except those of examples. */
function textsIn(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === 'example' || key === 'examples') return []
    return key === 'description' && typeof value === 'string' ? [value] : textsIn(value)
  })
}
