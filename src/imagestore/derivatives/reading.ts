import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { LentMemory } from '../../http/answer-memory.ts'
import { HEAD_BYTES, unseal, type Rendered } from './sealed.ts'

/** Larger ones are not read on the event loop: from the page cache a smaller one takes less than a trip to the thread pool. */
const SYNC_READ_BYTES = 256 * 1024

/** An image that need not be waited for. */
export interface AtHand extends Rendered {
  /** Where it lies, unless that is its own for as long as somebody wants it. */
  readonly lent?: LentMemory | undefined
}

/** Where an image of so many bytes is to be put; undefined for memory of its own. */
export type Lend = (bytes: number) => LentMemory | undefined

/**
 * Reads a sealed image at once.
 * @param used told when it was last used, by the file's time: milliseconds since 1970
 * @returns undefined where it is not whole, or large
 * @throws what the file system has against it
 */
export function readSealed(path: string, lend: Lend, used: (at: number) => void): AtHand | undefined {
  const file = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(file)
    if (size < HEAD_BYTES || size > SYNC_READ_BYTES) return undefined
    const lent = lend(size - HEAD_BYTES)
    const sealed = lent?.body(size - HEAD_BYTES, HEAD_BYTES) ?? Buffer.allocUnsafeSlow(size)
    const rendered = readSync(file, sealed) === size ? unseal(sealed) : undefined
    if (rendered === undefined) lent?.giveBack()
    else used(mtimeMs)
    return rendered && { ...rendered, lent }
  } finally {
    closeSync(file)
  }
}

interface SealedFile {
  readonly sealed: Buffer
  /** By the file's time: milliseconds since 1970. */
  readonly usedAt: number
}

/** Undefined for large ones. @throws what the file system has against it */
export function sealedAtOnce(path: string): SealedFile | undefined {
  const file = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(file)
    return size > SYNC_READ_BYTES ? undefined : { sealed: readFileSync(file), usedAt: mtimeMs }
  } finally {
    closeSync(file)
  }
}

/** Rejects with what the file system has against it. */
export async function sealedFile(path: string): Promise<SealedFile> {
  const file = await open(path, 'r')
  try {
    const { mtimeMs } = await file.stat()
    return { sealed: await file.readFile(), usedAt: mtimeMs }
  } finally {
    await file.close()
  }
}
