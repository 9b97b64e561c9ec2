import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { formatHash64, parseHash64, popcount, unpackHashes } from './scan.ts'
import { HashIndex } from './hash-index.ts'
import { buildMultiIndex, masksOf, MultiIndex, partRadii, TABLE_BYTES } from './multi-index.ts'
import { Matches, scan } from './scan.ts'

/** Computed independently of the code under test. */
function expectedOf(hashes: readonly bigint[], query: bigint, distance: number): [number, string][] {
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

/** Distinct, and the same in every run. */
const spread = (count: number) =>
  Array.from({ length: count }, (_, i) => (BigInt(i + 1) * 0x9e3779b97f4a7c15n) & (2n ** 64n - 1n))

const flatten = (matches: Matches) =>
  [...matches.byDistance()].flatMap(({ distance, hashes }) =>
    hashes.map((hash): [number, string] => [distance, hash]),
  )

const halvesOf = (hashes: readonly bigint[]) => new Uint32Array(BigUint64Array.from(hashes).buffer)
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
          await scan(halvesOf(hashes), hashes.length, matches)
          assert.deepEqual(flatten(matches), expectedOf(hashes, query, distance))
        }
      }),
    )
  })

  test('a scan finds hashes at the edges of its strips', async () => {
    const hashes = spread(70_000)
    for (const place of [0, 32_767, 32_768, 65_535, 65_536, 69_999]) {
      const query = hashes[place] ?? 0n
      const matches = new Matches(hash64Of(query), 0)
      await scan(halvesOf(hashes), hashes.length, matches)
      assert.deepEqual(flatten(matches), expectedOf(hashes, query, 0))
    }
  })

  test('the radii of the parts miss no hash', () => {
    for (let distance = 0; distance <= 16; distance++) {
      const reach = partRadii(distance).reduce((sum, radius) => sum + radius + 1, 0)
      assert.equal(reach, distance + 1)
      // A hash that no part finds differs in one bit more than the radius in each.
      assert.ok(reach > distance)
    }
    assert.deepEqual([...masksOf(4, 1)], [0, 1, 2, 4, 8])
    assert.equal(masksOf(22, 2).length, 1 + 22 + 231)
    assert.equal(masksOf(21, -1).length, 0)
    assert.equal(TABLE_BYTES, (2 ** 22 + 2 * 2 ** 21 + 3) * 4)
  })

  test('the multi-index finds all hashes within its distances', () => {
    // One large set for many queries. Random hashes, far from everything, make the index worth using.
    const random = spread(3_000)
    const clustered = fc.sample(clusters, { numRuns: 40, seed: 2 }).flat()
    const hashes = [...clustered, ...random, ...clustered.slice(0, 50)]
    const multiIndex = new MultiIndex(
      buildMultiIndex([halvesOf(hashes.slice(0, 100)), halvesOf(hashes.slice(100))]),
    )
    assert.equal(multiIndex.count, new Set(hashes).size)
    let answered = 0
    for (const [i, query] of [...clustered.slice(0, 150), ...random.slice(0, 50)].entries()) {
      const matches = new Matches(hash64Of(query), i % 12)
      if (!multiIndex.find(matches)) continue
      answered++
      assert.deepEqual(flatten(matches), expectedOf(hashes, query, i % 12))
    }
    assert.ok(answered > 50, `${answered} answered by the index`)
    for (const hash of hashes) assert.ok(multiIndex.has(hash64Of(hash).high, hash64Of(hash).low))
    assert.ok(!multiIndex.has(1, 1))
  })

  test('an index finds hashes that are indexed, added since, and added during a rebuild', async () => {
    const hashes = spread(140_000)
    let release = () => {}
    const gate = new Promise<void>((resolve) => (release = resolve))
    const index = new HashIndex(async (given) => {
      await gate
      return buildMultiIndex(given)
    })
    for (const hash of hashes.slice(0, 135_000)) index.add(hash64Of(hash))
    const rebuilding = index.rebuildIfDue()
    for (const hash of hashes.slice(135_000)) index.add(hash64Of(hash))
    const check = async () => {
      for (const query of [hashes[0], hashes[134_999], hashes[135_000], hashes[139_999]]) {
        assert.ok(query !== undefined)
        for (const distance of [8, 16]) {
          assert.deepEqual(
            flatten(await index.find(hash64Of(query), distance)),
            expectedOf(hashes, query, distance),
          )
        }
      }
    }
    await check()
    release()
    await rebuilding
    await check()
    const before = index.bytes
    for (const hash of hashes.slice(0, 20_000)) index.add(hash64Of(hash))
    assert.equal(index.bytes, before, 'duplicates are not added')
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
