/** Task for another thread: hashes in any order, made ready to be searched. Ten million take some seconds. */
import { firstPart, PART_BITS, secondPart, thirdPart } from '../near-duplicates/parts.ts'
import type { SortedParts } from '../near-duplicates/sorted.ts'

export interface Input {
  /** Two halves each, the lower one first. One that is there twice is kept once. */
  readonly hashes: readonly Uint32Array[]
}

export default function sortHashes({ hashes: given }: Input): SortedParts {
  const all = new BigUint64Array(given.reduce((sum, { length }) => sum + length / 2, 0))
  // Machines that this runs on are little-endian: the lower half of a number comes first.
  const halves = new Uint32Array(all.buffer)
  let at = 0
  for (const array of given) {
    halves.set(array, at)
    at += array.length
  }
  all.sort()
  const hashes = shared(distinct(halves) * 2)
  hashes.set(halves.subarray(0, hashes.length))
  const [firstBits, secondBits, thirdBits] = PART_BITS
  const first = startsOf(hashes, firstBits, (high) => firstPart(high))
  const second = startsOf(hashes, secondBits, secondPart)
  const third = startsOf(hashes, thirdBits, (_, low) => thirdPart(low))
  return {
    hashes,
    firstStarts: first,
    second: placesBy(hashes, second, secondPart),
    secondStarts: second,
    third: placesBy(hashes, third, (_, low) => thirdPart(low)),
    thirdStarts: third,
  }
}

type PartOf = (high: number, low: number) => number

const shared = (length: number): Uint32Array => new Uint32Array(new SharedArrayBuffer(length * 4))

/** Moves each of the sorted hashes once to the front. @returns how many they are */
function distinct(halves: Uint32Array): number {
  let count = 0
  for (let i = 0; i < halves.length; i += 2) {
    const [low = 0, high = 0] = [halves[i], halves[i + 1]]
    if (count > 0 && low === halves[count * 2 - 2] && high === halves[count * 2 - 1]) continue
    halves[count * 2] = low
    halves[count * 2 + 1] = high
    count++
  }
  return count
}

/** For each value of the part, and one behind the last, how many hashes come before. */
function startsOf(hashes: Uint32Array, bits: number, partOf: PartOf): Uint32Array {
  const starts = shared(2 ** bits + 1)
  for (let i = 0; i < hashes.length; i += 2) {
    const next = partOf(hashes[i + 1] ?? 0, hashes[i] ?? 0) + 1
    starts[next] = (starts[next] ?? 0) + 1
  }
  for (let value = 1; value < starts.length; value++) {
    starts[value] = (starts[value] ?? 0) + (starts[value - 1] ?? 0)
  }
  return starts
}

/** The places of the hashes by the value of their part. */
function placesBy(hashes: Uint32Array, starts: Uint32Array, partOf: PartOf): Uint32Array {
  const places = shared(hashes.length / 2)
  const next = starts.slice()
  for (let i = 0; i < hashes.length; i += 2) {
    const part = partOf(hashes[i + 1] ?? 0, hashes[i] ?? 0)
    const place = next[part] ?? 0
    places[place] = i / 2
    next[part] = place + 1
  }
  return places
}
