import assert from 'node:assert/strict'
import { DerivativeCache, type Render } from '../../src/imagestore/derivatives.ts'
import { DerivativeFolder } from '../../src/imagestore/derivative-folder.ts'
import { Gate } from '../../src/lib/gate.ts'

export const KEY = 'abkey.1'
export const MIB = 1024 * 1024

interface Parts {
  readonly root?: string
  readonly cap?: number
  readonly gate?: Gate
}

export function openCache({ root, cap = 64 * MIB, gate = new Gate({ running: 4, waiting: 100 }) }: Parts) {
  const faults: unknown[] = []
  const onFault = (_operation: string, error: unknown) => void faults.push(error)
  const folder = root === undefined ? undefined : new DerivativeFolder(root, cap, onFault)
  const cache = new DerivativeCache(folder, gate, async (keys) => new Set(keys))
  return { cache, folder, faults }
}

/** A WebP for those who look at its container only. */
export function toWebp(size: number): Buffer {
  const bytes = Buffer.alloc(size, 7)
  bytes.write('RIFF')
  bytes.writeUInt32LE(size - 8, 4)
  bytes.write('WEBP', 8)
  return bytes
}

/** An engine that makes the same of everything, and counts. */
export function maker(size = 1_000, wait: Promise<void> = Promise.resolve()) {
  const made = { count: 0 }
  const make: Render = async () => {
    made.count++
    await wait
    return { kind: 'image', bytes: toWebp(size), mime: 'image/webp' }
  }
  return { made, make }
}

export const bytesOf = (found: Awaited<ReturnType<DerivativeCache['get']>>) => {
  assert.equal(found?.kind, 'image')
  assert.equal(found.mime, 'image/webp')
  return Buffer.from(found.bytes)
}
