import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BytePattern } from './byte-pattern.ts'

/** The same by a regular expression. */
const matchesGlob = (text: string, glob: string) =>
  new RegExp(`^${glob.replaceAll('?', '.').replaceAll(/\*+/g, '.*')}$`, 'u').test(text)

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

/** Few letters, so that about half of the patterns match. */
const name = fc.stringMatching(/^[abñ]{0,12}$/)
const pattern = fc.oneof(
  fc.stringMatching(/^[abñ?*]{0,9}$/),
  // One that matches, as parts of a name were put out of sight.
  name.chain((text) =>
    fc
      .array(fc.constantFrom('keep', '?', '*'), { minLength: text.length, maxLength: text.length })
      .map((how) => [...text].map((letter, i) => (how[i] === 'keep' ? letter : how[i])).join('')),
  ),
)

test('patterns on bytes match what they match on text, wherever the bytes stand', () => {
  let matched = 0
  fc.assert(
    fc.property(name, pattern, name, name, (text, glob, before, after) => {
      const wanted = matchesGlob(text, glob)
      const from = before.length
      const found = new BytePattern(bytes(glob)).matches(
        bytes(before + text + after),
        from,
        from + text.length,
      )
      assert.equal(found, wanted, `${glob} on ${text}`)
      matched += Number(wanted)
    }),
    { numRuns: 5_000 },
  )
  assert.ok(matched > 300, `only ${matched} matched`)
})

test('a star takes no more than it must, and none is taken twice', () => {
  const like = (glob: string, text: string) =>
    new BytePattern(bytes(glob)).matches(bytes(text), 0, text.length)
  assert.ok(like('ab*ba', 'abba'))
  assert.ok(!like('ab*ba', 'aba'))
  assert.ok(like('*a?b*b', 'aaabbb'))
  assert.ok(!like('*ab*ab', 'ab'))
  assert.ok(like('**', ''))
  assert.ok(!like('', 'a'))
  assert.ok(!like('?*?', 'a'))
})
