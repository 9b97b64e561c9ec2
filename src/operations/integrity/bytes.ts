import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { reasonOf } from '../../storage/blobs/open.ts'
import { hashOfDigest } from '../../imagestore/hash.ts'

export type BytesState =
  | { readonly kind: 'good' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'rotted' }
  /** The store does not answer, or breaks off: that says nothing about the bytes. */
  | { readonly kind: 'unreadable'; readonly reason: string }

const ATTEMPTS = 3
const PAUSE_MS = 500

/**
 * Reads all of a blob and compares it with what is recorded. Bytes that come out wrong are read a second time: they may
 * have changed on the way.
 * @param moved told how many bytes were read
 */
export async function stateOfBytes(
  blobs: BlobStore,
  key: string,
  expected: { readonly hash: string; readonly size: number },
  moved: (bytes: number) => void,
): Promise<BytesState> {
  let wrong = 0
  for (let attempt = 1; ; attempt++) {
    try {
      const state = await once()
      if (state !== 'rotted') return { kind: state }
      if (++wrong === 2) return { kind: 'rotted' }
    } catch (error) {
      const reason = error instanceof Error ? reasonOf(error) : String(error)
      if (attempt >= ATTEMPTS) return { kind: 'unreadable', reason }
      await pause(PAUSE_MS)
    }
  }

  async function once(): Promise<'good' | 'missing' | 'rotted'> {
    const found = await blobs.openWhole(key)
    if (found === undefined) return 'missing'
    if (found.size !== expected.size) {
      found.body.destroy()
      return 'rotted'
    }
    const digest = createHash('sha256')
    for await (const chunk of found.body) {
      digest.update(chunk)
      moved(chunk.byteLength)
    }
    return hashOfDigest(digest.digest()) === expected.hash ? 'good' : 'rotted'
  }
}
