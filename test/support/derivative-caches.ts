import assert from 'node:assert/strict'
import type { DerivativeStore } from '../../src/storage/blobs/blob-store.ts'
import { DerivativeCache, type Render } from '../../src/imagestore/derivatives/cache.ts'
import { DerivativeFolder } from '../../src/imagestore/derivatives/folder.ts'
import { SharedDerivatives } from '../../src/imagestore/derivatives/shared-derivatives.ts'

export const KEY = 'abkey.1'
export const MIB = 1024 * 1024

/** A store in memory. */
export function fakeStore() {
  const objects = new Map<string, { bytes: Buffer; writtenAt: number }>()
  const store: DerivativeStore = {
    get: async (blobKey, name) => objects.get(`${blobKey}/${name}`)?.bytes,
    put: async (blobKey, name, bytes) => void objects.set(`${blobKey}/${name}`, { bytes, writtenAt: 0 }),
    remove: async (blobKey, name) => void objects.delete(`${blobKey}/${name}`),
    async removeAll(blobKey) {
      for (const key of objects.keys()) if (key.startsWith(`${blobKey}/`)) objects.delete(key)
    },
    async *list(start) {
      for (const [key, { writtenAt }] of objects) {
        const [blobKey = '', name = ''] = key.split('/')
        if (key.startsWith(start)) yield { blobKey, name, writtenAt }
      }
    },
    close: () => {},
  }
  return { store, objects }
}

interface Parts {
  readonly root?: string
  readonly cap?: number
  readonly waitMs?: number
  readonly store?: DerivativeStore
  readonly gone?: Set<string>
}

export function openCache({ root, cap = 64 * MIB, waitMs = 10_000, store, gone = new Set() }: Parts) {
  const faults: unknown[] = []
  const folder =
    root === undefined
      ? undefined
      : new DerivativeFolder(root, { cap, waitMs, onFault: (_operation, error) => faults.push(error) })
  const shared = store && new SharedDerivatives(store, (error) => faults.push(error))
  const cache = new DerivativeCache(
    folder,
    shared,
    async (keys) => new Set(keys.filter((key) => !gone.has(key))),
  )
  return { cache, folder, faults }
}

/** An engine that makes the same of everything, and counts. */
export function maker(size = 1_000, wait: Promise<void> = Promise.resolve()) {
  const made = { count: 0 }
  const make: Render = async () => {
    made.count++
    await wait
    return { kind: 'image', bytes: Buffer.alloc(size, 7), mime: 'image/webp' }
  }
  return { made, make }
}

export const bytesOf = (found: Awaited<ReturnType<DerivativeCache['get']>>) => {
  assert.equal(found?.kind, 'image')
  assert.equal(found.mime, 'image/webp')
  return Buffer.from(found.bytes)
}
