import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Matches } from './matches.ts'
import { nearWasm } from './near-wasm.ts'

/** Hashes compared in one go: they and the places found fit a second-level cache. */
const STRIP = 32_768
const KEYS = 0
const FOUND = STRIP * 8
const PAGES = (FOUND + STRIP * 4) / 65_536
/** Strips until others get their turn: some half a millisecond. */
const STRIPS_A_TURN = 8

interface Kernel {
  near(keys: number, count: number, low: number, high: number, distance: number, found: number): number
}

const memory = new WebAssembly.Memory({ initial: PAGES })
const heap = new Uint32Array(memory.buffer)
const kernel = instantiate()

function instantiate(): Kernel {
  const module = new WebAssembly.Module(Buffer.from(nearWasm, 'base64'))
  // The edge to foreign code: WebAssembly exports carry no types. scripts/build-wasm.ts makes these bytes.
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernel
}

/**
 * Compares with every hash, giving others a turn now and then.
 * @param hashes two halves each, the lower one first
 * @param count of hashes
 */
export async function scan(hashes: Uint32Array, count: number, matches: Matches): Promise<void> {
  const { query, distance } = matches
  for (let from = 0, strips = 1; from < count; from += STRIP, strips++) {
    const length = Math.min(STRIP, count - from)
    heap.set(hashes.subarray(from * 2, (from + length) * 2), KEYS)
    const found = kernel.near(KEYS, length, query.low, query.high, distance, FOUND)
    for (let i = 0; i < found; i++) {
      const at = (heap[FOUND / 4 + i] ?? 0) * 2
      matches.offer(heap[at + 1] ?? 0, heap[at] ?? 0)
    }
    if (strips % STRIPS_A_TURN === 0) await nextTurn()
  }
}
