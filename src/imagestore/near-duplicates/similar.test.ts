import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import sortHashes from '../tasks/sort-hashes.ts'
import { AccountHashes } from './account-hashes.ts'
import { formatDhash, parseDhash, popcount } from './dhash.ts'
import { Matches } from './matches.ts'
import { masksOf, radii } from './parts.ts'
import { scan } from './scan.ts'
import { SortedHashes } from './sorted.ts'

/** Worked out apart from the code under test. */
function naive(hashes: readonly bigint[], query: bigint, distance: number): [number, string][] {
  const near = new Map<bigint, number>()
  const halves = halvesOf([...hashes, query])
  const [low = 0, high = 0] = halves.subarray(-2)
  for (const [i, hash] of hashes.entries()) {
    const bits = ones((halves[i * 2] ?? 0) ^ low) + ones((halves[i * 2 + 1] ?? 0) ^ high)
    if (bits <= distance) near.set(hash, bits)
  }
  return [...near]
    .map(([hash, bits]): [number, string] => [bits, hash.toString(16).padStart(16, '0')])
    .sort(([bits, hash], [others, other]) => bits - others || (hash < other ? -1 : 1))
}

function ones(value: number): number {
  let count = 0
  for (let left = value; left !== 0; left &= left - 1) count++
  return count
}

/** The same in every run, and all different. */
const spread = (count: number) =>
  Array.from({ length: count }, (_, i) => (BigInt(i + 1) * 0x9e3779b97f4a7c15n) & (2n ** 64n - 1n))

const told = (matches: Matches) =>
  [...matches.byDistance()].flatMap(({ distance, dhashes }) =>
    dhashes.map((hash): [number, string] => [distance, hash]),
  )

const halvesOf = (hashes: readonly bigint[]) => new Uint32Array(BigUint64Array.from(hashes).buffer)
const dhashOf = (hash: bigint) => parseDhash(hash.toString(16).padStart(16, '0'))

const hash64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
/** Hashes that lie near each other: each a few bits from one of some centres. */
const crowd = fc
  .tuple(
    fc.array(hash64, { minLength: 1, maxLength: 4 }),
    fc.array(fc.tuple(fc.nat(), fc.array(fc.nat(63), { maxLength: 18 })), { maxLength: 60 }),
  )
  .map(([centres, steps]) =>
    steps.map(([centre, bits]) =>
      bits.reduce((hash, bit) => hash ^ (1n << BigInt(bit)), centres[centre % centres.length] ?? 0n),
    ),
  )

suite('near hashes', () => {
  test('a scan finds what a naive one finds, whatever the distance', async () => {
    await fc.assert(
      fc.asyncProperty(crowd, hash64, fc.integer({ min: 0, max: 16 }), async (hashes, other, distance) => {
        for (const query of [hashes[0] ?? other, other]) {
          const matches = new Matches(dhashOf(query), distance)
          await scan(halvesOf(hashes), hashes.length, matches)
          assert.deepEqual(told(matches), naive(hashes, query, distance))
        }
      }),
    )
  })

  test('more hashes than a strip has, with those sought at its edges', async () => {
    const hashes = spread(70_000)
    for (const place of [0, 32_767, 32_768, 65_535, 65_536, 69_999]) {
      const query = hashes[place] ?? 0n
      const matches = new Matches(dhashOf(query), 0)
      await scan(halvesOf(hashes), hashes.length, matches)
      assert.deepEqual(told(matches), naive(hashes, query, 0))
    }
  })

  test('three parts miss nothing: each pair of hashes meets in one of them', () => {
    for (let distance = 0; distance <= 16; distance++) {
      const reach = radii(distance).reduce((sum, radius) => sum + radius + 1, 0)
      assert.equal(reach, distance + 1)
      // The most unlucky hash is one bit out of reach in every part.
      assert.ok(reach > distance)
    }
    assert.deepEqual([...masksOf(4, 1)], [0, 1, 2, 4, 8])
    assert.equal(masksOf(22, 2).length, 1 + 22 + 231)
    assert.equal(masksOf(21, -1).length, 0)
  })

  test('sorted hashes find what a naive scan finds', () => {
    // Few but large tables: one set of hashes serves many questions. Beside the crowd some that are far from everything, so
    // that looking at few of them is worth it.
    const random = spread(3_000)
    const crowds = fc.sample(crowd, { numRuns: 40, seed: 2 }).flat()
    const hashes = [...crowds, ...random, ...crowds.slice(0, 50)]
    const sorted = new SortedHashes(
      sortHashes({ hashes: [halvesOf(hashes.slice(0, 100)), halvesOf(hashes.slice(100))] }),
    )
    assert.equal(sorted.count, new Set(hashes).size)
    let answered = 0
    for (const [i, query] of [...crowds.slice(0, 150), ...random.slice(0, 50)].entries()) {
      const matches = new Matches(dhashOf(query), i % 12)
      if (!sorted.find(matches)) continue
      answered++
      assert.deepEqual(told(matches), naive(hashes, query, i % 12))
    }
    assert.ok(answered > 50, `${answered} answered by their parts`)
    for (const hash of hashes) assert.ok(sorted.has(dhashOf(hash).high, dhashOf(hash).low))
    assert.ok(!sorted.has(1, 1))
  })

  test('an account finds what is sorted, what was added since, and what is added while it sorts', async () => {
    const hashes = spread(140_000)
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const account = new AccountHashes(async (given) => {
      await gate
      return sortHashes({ hashes: given })
    })
    for (const hash of hashes.slice(0, 135_000)) account.add(dhashOf(hash))
    const settling = account.settle()
    for (const hash of hashes.slice(135_000)) account.add(dhashOf(hash))
    const check = async () => {
      for (const query of [hashes[0], hashes[134_999], hashes[135_000], hashes[139_999]]) {
        assert.ok(query !== undefined)
        for (const distance of [8, 16]) {
          assert.deepEqual(told(await account.find(dhashOf(query), distance)), naive(hashes, query, distance))
        }
      }
    }
    await check()
    release()
    await settling
    await check()
    const before = account.bytes
    for (const hash of hashes.slice(0, 20_000)) account.add(dhashOf(hash))
    assert.equal(account.bytes, before, 'what is there is not added')
  })

  test('texts of hashes', () => {
    fc.assert(
      fc.property(hash64, (hash) => {
        const text = hash.toString(16).padStart(16, '0')
        const { high, low } = parseDhash(`xx${text}`, 2)
        assert.equal(formatDhash(high, low), text)
        assert.equal(popcount(high) + popcount(low), hash.toString(2).replaceAll('0', '').length)
      }),
    )
  })
})
