import { BEGIN, END, PAIRS, SYMBOL_OF, SYMBOLS, TRIPLES } from './alphabet.ts'
import { BLOCK, set, shared, type Grams, type Postings } from './columns.ts'

/**
 * Below this, finding out which blocks to look at costs as much as looking at all of them, and the table of triples as
 * much memory as the records.
 */
const LEAST_RECORDS = 8_192

/** Which blocks have which characters, pairs and triples. */
export function gramsOf(names: Uint8Array, starts: Uint32Array): Grams | undefined {
  const count = starts.length - 1
  if (count < LEAST_RECORDS) return undefined
  const words = Math.ceil(Math.ceil(count / BLOCK) / 32)
  const symbols = shared.u32(SYMBOLS * words)
  const pairs = shared.u32(PAIRS * words)
  for (let place = 0; place < count; place++) {
    const block = place >>> 5
    const word = block >>> 5
    const bit = 1 << (block & 31)
    const end = starts[place + 1] ?? 0
    let last = BEGIN
    for (let at = starts[place] ?? 0; at <= end; at++) {
      const symbol = at === end ? END : (SYMBOL_OF[names[at] ?? 0] ?? 0)
      set(symbols, symbol * words + word, bit)
      set(pairs, (last * SYMBOLS + symbol) * words + word, bit)
      last = symbol
    }
  }
  const triples = postings(TRIPLES, count, (place, visit) => {
    const end = starts[place + 1] ?? 0
    let last = BEGIN * SYMBOLS + (SYMBOL_OF[names[starts[place] ?? 0] ?? 0] ?? 0)
    for (let at = (starts[place] ?? 0) + 1; at <= end; at++) {
      const triple = last * SYMBOLS + (at === end ? END : (SYMBOL_OF[names[at] ?? 0] ?? 0))
      visit(triple)
      last = triple % PAIRS
    }
  })
  return { symbols, pairs, triples }
}

/** For each key the blocks in which `visitKeys` tells of it, counted first and then written. */
export function postings(
  keys: number,
  count: number,
  visitKeys: (place: number, visit: (key: number) => void) => void,
): Postings {
  const offsets = shared.u32(keys + 1)
  // The last block seen with each key, so that a block counts once.
  const last = new Int32Array(keys).fill(-1)
  let block = 0
  const add = (key: number) => {
    if (last[key] === block) return
    last[key] = block
    offsets[key + 1] = (offsets[key + 1] ?? 0) + 1
  }
  for (let place = 0; place < count; place++) {
    block = place >>> 5
    visitKeys(place, add)
  }
  for (let key = 0; key < keys; key++) offsets[key + 1] = (offsets[key + 1] ?? 0) + (offsets[key] ?? 0)
  const blocks = shared.u16(offsets[keys] ?? 0)
  const next = offsets.slice()
  last.fill(-1)
  const write = (key: number) => {
    if (last[key] === block) return
    last[key] = block
    const to = next[key] ?? 0
    blocks[to] = block
    next[key] = to + 1
  }
  for (let place = 0; place < count; place++) {
    block = place >>> 5
    visitKeys(place, write)
  }
  return { offsets, blocks }
}
