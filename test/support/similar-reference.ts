import { additionCost, omissionCost, PLURAL, TRANSPOSITION } from '../../src/domainwatch/similar/alignment.ts'
import { PAIRS, replacementOf } from '../../src/domainwatch/similar/letters.ts'

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
      ways.push((isSame ? 0 : replacementOf(code(name, i), code(other, j)).cost) + rest(i + 1, j + 1))
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
