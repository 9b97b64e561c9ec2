import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { buildTrie, splitBy, getCost } from './index.ts'

const toSplitter = (words: readonly string[]) => splitBy(buildTrie(words))

test('a text is split into the most probable words', () => {
  const split = toSplitter([
    'de',
    'la',
    'casa',
    'casas',
    'en',
    'venta',
    'sen',
    'ventana',
    'año',
    'ano',
    'nuevo',
  ])
  assert.deepEqual(split('casasenventa'), ['casas', 'en', 'venta'])
  assert.deepEqual(split('casadelaventana'), ['casa', 'de', 'la', 'ventana'])
  assert.deepEqual(split('casa-en-venta'), ['casa', 'en', 'venta'])
  assert.deepEqual(split('casaenvénta'), ['casa', 'en', 'vénta'])
  assert.deepEqual(split('añonuevo'), ['año', 'nuevo'])
  assert.deepEqual(split('anonuevo'), ['ano', 'nuevo'])
})

test('a text that does not consist of words throughout is not split', () => {
  const split = toSplitter(['casa', 'en'])
  for (const text of ['', '-', 'xcasa', 'casax', 'casa24', 'casa-24', 'cas', 'casaж', 'casa'.repeat(16)]) {
    assert.deepEqual(split(text), [], text)
  }
  assert.deepEqual(split('casa'.repeat(15)).length, 15)
})

test('the split equals that of plain dynamic programming over all substrings', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abñ'), minLength: 1, maxLength: 4 })
  const text = fc.string({ unit: fc.constantFrom(...'aábbñ-1'), maxLength: 24 })
  const made = (words: readonly string[]) =>
    fc.array(fc.constantFrom(...words, '-'), { maxLength: 8 }).map((parts) => parts.join(''))
  const input = fc
    .uniqueArray(word, { minLength: 1, maxLength: 12 })
    .chain((words) => fc.tuple(fc.constant(words), fc.oneof(text, made(words))))
  fc.assert(
    fc.property(input, ([words, given]) => {
      assert.deepEqual(toSplitter(words)(given), plainSplit(words, given))
    }),
    { numRuns: 1_000 },
  )
})

/** Finds the best split by trying every substring: lowest cost, then fewest words, then longest last words. */
function plainSplit(words: readonly string[], text: string): readonly string[] {
  const costs = new Map(words.map((word, rank) => [word, getCost(rank, words.length)]))
  const best: ({ cost: number; words: readonly string[] } | undefined)[] = [{ cost: 0, words: [] }]
  for (let to = 1; to <= text.length; to++) {
    if (text[to - 1] === '-') {
      best[to] = best[to - 1]
      continue
    }
    for (let from = 0; from < to; from++) {
      const before = best[from]
      const own = costs.get(text.slice(from, to).replaceAll('á', 'a'))
      if (before === undefined || own === undefined) continue
      const found = { cost: before.cost + own, words: [...before.words, text.slice(from, to)] }
      const known = best[to]
      const isBetter =
        known === undefined ||
        found.cost < known.cost ||
        (found.cost === known.cost && found.words.length < known.words.length)
      if (isBetter) best[to] = found
    }
  }
  return best[text.length]?.words ?? []
}
