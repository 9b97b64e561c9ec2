import {
  additionCost,
  omissionCost,
  PLURAL_COST as PLURAL,
  TRANSPOSITION_COST as TRANSPOSITION,
} from '../../src/lib/lookalikes/distance.ts'
import type { Vocabulary } from '../../src/lib/lookalikes/vocabulary.ts'
import { readVocabulary } from '../../src/domainwatch/words.ts'
import { LETTER_PAIRS as PAIRS, toReplacement } from '../../src/lib/lookalikes/letters.ts'

/** The built-in words and keywords. */
export const vocabulary = readVocabulary()

/** For tests: what it costs to make one name from another, straight from the definition, trying every way. */
export function referenceCost(name: string, other: string): number {
  const known = new Map<string, number>()
  const code = (text: string, at: number) => text.charCodeAt(at) || 0

  function rest(i: number, j: number): number {
    if (i === name.length && j === other.length) return 0
    const key = `${i} ${j}`
    const before = known.get(key)
    if (before !== undefined) return before
    const ways: number[] = []
    const isLast = (text: string, at: number) => at === text.length - 1 && text.length > 1 && text[at] === 's'
    if (i < name.length) {
      ways.push(omissionCost(code(name, i), code(name, i - 1)) + rest(i + 1, j))
      if (isLast(name, i) && j === other.length) ways.push(PLURAL)
    }
    if (j < other.length) {
      const [letter, left, right] = [code(other, j), code(other, j - 1), code(other, j + 1)]
      ways.push(Math.min(additionCost(letter, left, 0), additionCost(letter, 0, right)) + rest(i, j + 1))
      if (isLast(other, j) && i === name.length) ways.push(PLURAL)
    }
    if (i < name.length && j < other.length) {
      const isSame = name[i] === other[j]
      ways.push((isSame ? 0 : toReplacement(code(name, i), code(other, j)).cost) + rest(i + 1, j + 1))
      const [two, otherTwo] = [name.slice(i, i + 2), other.slice(j, j + 2)]
      if (two.length === 2 && two === [...otherTwo].toReversed().join('') && two !== otherTwo) {
        ways.push(TRANSPOSITION + rest(i + 2, j + 2))
      }
      for (const pair of PAIRS) {
        if (pair.two === two && pair.one === other[j]) ways.push(pair.cost + rest(i + 2, j + 1))
        if (pair.two === otherTwo && pair.one === name[i]) ways.push(pair.cost + rest(i + 1, j + 2))
      }
    }
    const least = Math.min(...ways)
    known.set(key, least)
    return least
  }
  return rest(0, 0)
}

const CONNECTORS = 'al de del el en la las los mi su tu'.split(' ')
const ADJACENT_COSTS = [0, 4, 6, 10, 12]
/**
 * What may be next to a brand with at least this many characters: written exactly, with homoglyphs, and with an
 * edit.
 */
const MOST_BESIDE = [
  [8, 4, 4, 4],
  [6, 4, 4, 3],
  [5, 4, 4, 1],
  [2, 3, 2, -1],
  [1, -1, -1, -1],
] as const

/**
 * For tests: the cost of `name` inside `other` with words next to it, directly from the definition. Infinity if it
 * does not.
 */
export function referenceInside(name: string, other: string, vocabulary: Vocabulary): number {
  const [, plain, exact, changed] = MOST_BESIDE.find(([length]) => name.length >= length) ?? [0, 0, 0, -1]
  // A short name is in other words by chance.
  if (name.length <= 4 && vocabulary.isWords(other, name)) return Infinity
  const [before, after] = [vocabulary.before(other), vocabulary.after(other)]
  let least = Infinity
  for (let from = 0; from < other.length; from++) {
    for (let to = from + 1; to <= other.length; to++) {
      if (other[from] === '-' || other[to - 1] === '-') continue
      const neighbours = [
        [before[from] ?? 0, from],
        [after[to] ?? 0, other.length - to],
      ] as const
      const worst = Math.max(...neighbours.map(([adjacent]) => adjacent))
      const costs = neighbours
        .filter(([adjacent]) => adjacent > 0)
        .map(([adjacent, length]) => adjacentCost(adjacent, length))
      const words = costs.length === 0 ? 0 : Math.max(...costs) + (costs.length - 1)
      if (worst <= plain && other.slice(from, to) === name) least = Math.min(least, words)
      if (worst <= exact) least = Math.min(least, words + insideCost(name, other, from, to, 0))
      if (worst <= changed) least = Math.min(least, words + insideCost(name, other, from, to, 1))
    }
  }
  return least
}

function adjacentCost(adjacent: number, length: number): number {
  return (ADJACENT_COSTS[adjacent] ?? Infinity) + (adjacent >= 2 && length > 8 ? 1 : 0)
}

/** The cost of the name in a range, with at most this many edits neighbours homoglyphs. */
function insideCost(name: string, other: string, from: number, to: number, most: number): number {
  const code = (text: string, at: number) => text.charCodeAt(at) || 0
  const known = new Map<string, number>()

  function rest(i: number, j: number, left: number): number {
    if (i === name.length && j === to) return 0
    const key = `${i} ${j} ${left}`
    const before = known.get(key)
    if (before !== undefined) return before
    const ways: number[] = [Infinity]
    const way = (cost: number, toI: number, toJ: number) => {
      if (cost > 3 && left === 0) return
      ways.push(cost + rest(toI, toJ, cost > 3 ? left - 1 : left))
    }
    if (i < name.length) way(omissionCost(code(name, i), code(name, i - 1)), i + 1, j)
    if (j < to) {
      const [letter, last, next] = [code(other, j), j > from ? code(other, j - 1) : 0, code(other, j + 1)]
      if (i < name.length && (i > 0 || j > from)) {
        way(Math.min(additionCost(letter, last, 0), additionCost(letter, 0, next)), i, j + 1)
        for (const word of CONNECTORS) {
          if (other.startsWith(word, j) && j + word.length <= to) way(8, i, j + word.length)
        }
      } else if (i === name.length && other[j] === 's') way(PLURAL, i, j + 1)
      if (i < name.length) {
        const isSame = name[i] === other[j]
        way(isSame ? 0 : toReplacement(code(name, i), letter).cost, i + 1, j + 1)
        const [two, otherTwo] = [name.slice(i, i + 2), other.slice(j, Math.min(to, j + 2))]
        if (two.length === 2 && two === [...otherTwo].toReversed().join('') && two !== otherTwo) {
          way(TRANSPOSITION, i + 2, j + 2)
        }
        for (const pair of PAIRS) {
          if (pair.two === two && pair.one === other[j]) way(pair.cost, i + 2, j + 1)
          if (pair.two === otherTwo && pair.one === name[i]) way(pair.cost, i + 1, j + 2)
        }
      }
    }
    const least = Math.min(...ways)
    known.set(key, least)
    return least
  }
  return rest(0, from, most)
}
