/**
 * Measures the search for near hashes (similar images) among 0.1, 1 and 10 million, in memory. The peers are a
 * loop in JavaScript and a BK-tree, which most libraries use. Half of the hashes are random, and half are clustered around a thousand centres, like those of real pictures.
 */
import { BkTree } from './lib/bk-tree.ts'
import { HashList, popcount, type Hash64 } from '../src/lib/perceptual-hash/index.ts'

const given = process.argv.find((word) => /^\d[\d,]*$/.test(word))
const SIZES = (given ?? '100000,1000000,10000000').split(',').map(Number)
const DISTANCES = [0, 4, 8, 11, 16]
const SEARCHES = 200

let state = 1
const random = (): number => {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return state >>> 0
}

function hashes(count: number): Uint32Array {
  const centres = Uint32Array.from({ length: 2_000 }, random)
  const halves = new Uint32Array(count * 2)
  for (let i = 0; i < count; i++) {
    const centre = (random() % 1_000) * 2
    let [low, high] = i % 2 === 0 ? [random(), random()] : [centres[centre] ?? 0, centres[centre + 1] ?? 0]
    // Clustered hashes differ from their centre in up to 24 bits.
    for (let flips = i % 2 === 0 ? 0 : random() % 25; flips > 0; flips--) {
      const bit = random() % 64
      if (bit < 32) low ^= 1 << bit
      else high ^= 1 << (bit - 32)
    }
    halves[i * 2] = low
    halves[i * 2 + 1] = high
  }
  return halves
}

async function times(run: (query: Hash64) => Promise<unknown>, halves: Uint32Array, count: number) {
  const taken: number[] = []
  for (let i = 0; i < count; i++) {
    const at = (random() % (halves.length / 2)) * 2
    const query = { low: halves[at] ?? 0, high: halves[at + 1] ?? 0 }
    const began = performance.now()
    await run(query)
    taken.push(performance.now() - began)
  }
  taken.sort((one, other) => one - other)
  const at = (share: number) =>
    (taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? 0).toFixed(2)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

async function naive(halves: Uint32Array, query: Hash64, distance: number): Promise<number> {
  let found = 0
  for (let i = 0; i < halves.length; i += 2) {
    if (popcount((halves[i] ?? 0) ^ query.low) + popcount((halves[i + 1] ?? 0) ^ query.high) <= distance)
      found++
  }
  return found
}

for (const size of SIZES) {
  const halves = hashes(size)
  const list = new HashList()
  const began = performance.now()
  for (let i = 0; i < halves.length; i += 2) list.add({ low: halves[i] ?? 0, high: halves[i + 1] ?? 0 })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`\n${size} hashes: ready after ${seconds} s, ${(list.bytes / 1e6).toFixed(0)} MB`)
  for (const distance of DISTANCES) {
    console.log(
      `  distance ${distance}: ${await times((query) => list.find(query, distance), halves, SEARCHES)}`,
    )
  }
  console.log(`  peer, a loop in JavaScript: ${await times((query) => naive(halves, query, 8), halves, 10)}`)
  const growing = performance.now()
  const tree = new BkTree(halves)
  const grown = ((performance.now() - growing) / 1000).toFixed(1)
  console.log(`  peer, a BK-tree: ready after ${grown} s, ${(tree.bytes / 1e6).toFixed(0)} MB`)
  for (const distance of DISTANCES) {
    const search = async (query: Hash64) => tree.count(query, distance)
    console.log(`    distance ${distance}: ${await times(search, halves, distance > 4 ? 10 : SEARCHES)}`)
  }
}
