import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { octetsOf, TOO_MUCH } from './alignment.ts'
import { Bounds } from './bounds.ts'
import { edgesOf, edgesWanted } from './edges.ts'
import { LURES } from './lures.ts'
import { Containment } from './words.ts'

const HELD: readonly [name: string, other: string][] = [
  ['a', 'mall-a'],
  ['a', 'malla-223'],
  ['a', 'web-mail-4'],
  ['a', 'webmaila'],
  ['a', 'awebmail'],
  ['a', 'x-a-y'],
  ['m', 'rn-x'],
  ['d', 'mi-cl-tu'],
  ['rn', 'mchile'],
  ['a-b', 'chile4bweb-pay'],
]
const NOT_HELD: readonly [name: string, other: string][] = [
  ['a', 'xa'],
  ['a', 'casa'],
  ['a', 'mallas'],
  ['a', 'x-ab'],
  ['bc', 'bcx'],
]

const isHeld = (name: string, other: string) =>
  new Containment(octetsOf(name)).find(octetsOf(other), 0, other.length).cost < TOO_MUCH
const mayBe = (name: string, other: string) =>
  new Bounds(octetsOf(name)).mayBeInside(octetsOf(`x${other}x`), 1, other.length + 1)

for (const [name, other] of HELD) {
  test(`${other} holds ${name}`, () =>
    assert.deepEqual([isHeld(name, other), mayBe(name, other)], [true, true]))
}

for (const [name, other] of NOT_HELD) {
  test(`${other} does not hold ${name}, and is told by its bounds`, () =>
    assert.deepEqual([isHeld(name, other), mayBe(name, other)], [false, false]))
}

const letters = fc.string({ unit: fc.constantFrom(...'abdmrncl48ñi-'), minLength: 1, maxLength: 3 })
const aName = letters.filter((text) => !text.startsWith('-') && !text.endsWith('-'))
const aWord = fc.oneof(fc.constantFrom(...LURES), letters, fc.constantFrom('', '-', 'rn', 'cl', 'vv', 'we-b'))

test('of no name that holds ours another thing is said', () => {
  let held = 0
  fc.assert(
    fc.property(
      aName,
      fc.array(aWord, { maxLength: 2 }),
      aWord,
      fc.array(aWord, { maxLength: 2 }),
      (...given) => {
        const [name, before, instead, behind] = given
        for (const core of [name, instead]) {
          const other = [...before, core, ...behind]
            .join('')
            .replaceAll(/^-+|-+$/g, '')
            .slice(0, 63)
          if (other === '' || !isHeld(name, other)) continue
          held++
          assert.ok(mayBe(name, other), `${name} in ${other}`)
          const wanted = edgesWanted(octetsOf(name))
          assert.equal(
            wanted & ~edgesOf(octetsOf(other), 0, other.length),
            0,
            `${name} in ${other}, by its edges`,
          )
        }
      },
    ),
    { numRuns: 3_000 },
  )
  assert.ok(held > 500, `${held} of them`)
})
