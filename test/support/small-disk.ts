import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { temporaryFolder } from './folder.ts'

const DISK_BYTES = 16 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024

/** A disk of its own that is soon full; undefined where none may be mounted. */
export async function smallDisk(): Promise<({ path: string } & AsyncDisposable) | undefined> {
  const folder = await temporaryFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder.path], {
      stdio: 'ignore',
    })
  } catch {
    await folder[Symbol.asyncDispose]()
    return undefined
  }
  return {
    path: folder.path,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', ['--lazy', folder.path])
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** Writes a file until its disk is full. */
export async function fill(path: string): Promise<void> {
  const file = createWriteStream(path)
  const full = finished(file)
  for (let bytes = 0; bytes <= DISK_BYTES && !file.destroyed; bytes += CHUNK_BYTES) {
    await new Promise((resolve) => file.write(Buffer.alloc(CHUNK_BYTES), resolve))
  }
  await assert.rejects(full, { code: 'ENOSPC' })
}
