import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BestMatches, Matcher } from '../lib/lookalikes/index.ts'
import { readVocabulary } from './words.ts'
import assert from 'node:assert/strict'

/** How many results of a brand people read. */
const FIRST = 20

/** By brand: real registrations in which its owner sees the brand, and others that contain its letters or are an edit away. */
const labelled: Readonly<Record<string, { readonly related: string; readonly unrelated: string }>> =
  JSON.parse(readFileSync(new URL('../../test/fixtures/short-brands.json', import.meta.url), 'utf8'))

test('most of the first results for short brands are right, and few are missing', () => {
  const vocabulary = readVocabulary()
  const starts: number[] = [0]
  const names = Object.values(labelled).flatMap(({ related, unrelated }) =>
    `${related} ${unrelated}`.split(' '),
  )
  for (const name of names) starts.push((starts.at(-1) ?? 0) + name.length)
  const block = {
    names: Buffer.from(names.join(''), 'latin1'),
    starts: Uint32Array.from(starts),
    count: names.length,
  }
  let [found, right, wanted] = [0, 0, 0]
  for (const [brand, { related }] of Object.entries(labelled)) {
    const best = new BestMatches<typeof block>(FIRST)
    new Matcher(brand, vocabulary).scan(block, 0, best.add, () => false)
    const isRelated = new Set(related.split(' '))
    const matches = best.result()
    found += matches.length
    right += matches.filter(({ name }) => isRelated.has(name)).length
    wanted += isRelated.size
  }
  const figures = `${right} of ${found} are right, of ${wanted}`
  assert.ok(right / found >= 0.85, figures)
  assert.ok(right / wanted >= 0.8, figures)
})
