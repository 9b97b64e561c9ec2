import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { formatHash64, HashList, Matches, parseHash64, popcount, scan, unpackHashes } from './scan.ts'

/** Computed independently of the code under test. */
function getExpected(hashes: readonly bigint[], query: bigint, distance: number): [number, string][] {
  const near = new Map<bigint, number>()
  const halves = toHalves([...hashes, query])
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

/** Distinct, and the same in every run. */
const spread = (count: number) =>
  Array.from({ length: count }, (_, i) => (BigInt(i + 1) * 0x9e3779b97f4a7c15n) & (2n ** 64n - 1n))

const flatten = (matches: Matches) =>
  [...matches.byDistance()].flatMap(({ distance, hashes }) =>
    hashes.map((hash): [number, string] => [distance, hash]),
  )

const toHalves = (hashes: readonly bigint[]) => new Uint32Array(BigUint64Array.from(hashes).buffer)
const hash64Of = (hash: bigint) => parseHash64(hash.toString(16).padStart(16, '0'))

const hash64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
/** Hashes that are near each other: each is a few bits from one of some centres. */
const clusters = fc
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
  test('a scan finds all hashes within any distance', async () => {
    await fc.assert(
      fc.asyncProperty(clusters, hash64, fc.integer({ min: 0, max: 16 }), async (hashes, other, distance) => {
        for (const query of [hashes[0] ?? other, other]) {
          const matches = new Matches(hash64Of(query), distance)
          await scan(toHalves(hashes), hashes.length, matches)
          assert.deepEqual(flatten(matches), getExpected(hashes, query, distance))
        }
      }),
    )
  })

  test('a scan finds hashes at the edges of its strips', async () => {
    const hashes = spread(70_000)
    for (const place of [0, 32_767, 32_768, 65_535, 65_536, 69_999]) {
      const query = hashes[place] ?? 0n
      const matches = new Matches(hash64Of(query), 0)
      await scan(toHalves(hashes), hashes.length, matches)
      assert.deepEqual(flatten(matches), getExpected(hashes, query, 0))
    }
  })

  test('a list finds hashes that are added before and during a search', async () => {
    const hashes = spread(300_000)
    const list = new HashList()
    for (const hash of hashes.slice(0, 270_000)) list.add(hash64Of(hash))
    const query = hashes[269_999] ?? 0n
    const before = list.find(hash64Of(query), 16)
    // Grows the list while it is read.
    for (const hash of hashes.slice(270_000)) list.add(hash64Of(hash))
    assert.deepEqual(flatten(await before), getExpected(hashes.slice(0, 270_000), query, 16))
    for (const [place, distance] of [
      [0, 8],
      [299_999, 16],
    ] as const) {
      const other = hashes[place] ?? 0n
      assert.deepEqual(
        flatten(await list.find(hash64Of(other), distance)),
        getExpected(hashes, other, distance),
      )
    }
    assert.equal(list.count, hashes.length)
  })

  test('hashes are parsed and formatted', () => {
    fc.assert(
      fc.property(hash64, (hash) => {
        const text = hash.toString(16).padStart(16, '0')
        const { high, low } = parseHash64(`xx${text}`, 2)
        assert.equal(formatHash64(high, low), text)
        assert.deepEqual([...unpackHashes(`${text}${text}`)], [low, high, low, high])
        assert.equal(popcount(high) + popcount(low), hash.toString(2).replaceAll('0', '').length)
      }),
    )
  })
})
