import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BytePattern } from './name-test.ts'

/** The same by a regular expression. */
const matchesGlob = (text: string, glob: string) =>
  new RegExp(`^${glob.replaceAll('?', '.').replaceAll(/\*+/g, '.*')}$`, 'u').test(text)

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

/** Few letters, so that about half of the patterns match. */
const name = fc.stringMatching(/^[abñ]{0,12}$/)
const pattern = fc.oneof(
  fc.stringMatching(/^[abñ?*]{0,9}$/),
  // A pattern that matches a name: some of its letters become wildcards.
  name.chain((text) =>
    fc
      .array(fc.constantFrom('keep', '?', '*'), { minLength: text.length, maxLength: text.length })
      .map((how) => [...text].map((letter, i) => (how[i] === 'keep' ? letter : how[i])).join('')),
  ),
)

/** A prefix moves the states of a pattern, up to the second word and across the two. */
const prefixLength = fc.oneof(fc.constant(0), fc.nat(50))

test('patterns match the same on bytes as on text, at any offset', () => {
  let matched = 0
  fc.assert(
    fc.property(name, pattern, name, name, prefixLength, (text, glob, before, after, length) => {
      const wanted = matchesGlob(text, glob)
      const prefix = 'abñ'.repeat(length).slice(0, length)
      const from = before.length
      const found = new BytePattern(bytes(prefix + glob)).matches(
        bytes(before + prefix + text + after),
        from,
        from + length + text.length,
      )
      assert.equal(found, wanted, `${prefix}${glob} on ${prefix}${text}`)
      matched += Number(wanted)
    }),
    { numRuns: 2_000 },
  )
  assert.ok(matched > 120, `only ${matched} matched`)
})

test('a star matches as little as possible, and no byte is matched twice', () => {
  const like = (glob: string, text: string) =>
    new BytePattern(bytes(glob)).matches(bytes(text), 0, text.length)
  assert.ok(like('ab*ba', 'abba'))
  assert.ok(!like('ab*ba', 'aba'))
  assert.ok(like('*a?b*b', 'aaabbb'))
  assert.ok(!like('*ab*ab', 'ab'))
  assert.ok(like('**', ''))
  assert.ok(!like('', 'a'))
  assert.ok(!like('?*?', 'a'))
  assert.ok(like('?'.repeat(63), 'a'.repeat(63)))
  assert.ok(!like('?'.repeat(64), 'a'.repeat(64)))
})
