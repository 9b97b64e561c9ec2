/** Worker-thread task: writes the list index to a file, and reads it. */
import { renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { partsOf } from '../../storage/database/changes/change.ts'
import { sizeOf } from '../../lib/name-index/index.ts'
import { cursorIn, readSnapshot, writeSnapshot, type IndexFile, type Snapshot } from '../list/index-file.ts'
import { isErrorCode } from '../../lib/errors.ts'

export type Input =
  | (IndexFile & { readonly kind: 'read'; readonly memory: number })
  /** Writes nothing if the existing file is at most `near` changes away. */
  | (IndexFile & { readonly kind: 'write'; readonly snapshot: Snapshot; readonly near: number })

export type Output =
  | { readonly kind: 'read'; readonly snapshot: Snapshot | undefined }
  /** `busy`: another process is writing the file. */
  | { readonly kind: 'written' | 'near' | 'busy' }
  | { readonly kind: 'failed'; readonly reason: string }

/** A temporary file older than this, or from the future, was left by a process that ended. */
const ABANDONED_MS = 120_000
/** Maximum share of the free disk space: other data matters more. */
const MAX_SPACE_SHARE = 1 / 3

export default function work(input: Input): Output {
  try {
    switch (input.kind) {
      case 'read':
        return { kind: 'read', snapshot: readSnapshot(input, input.memory) }
      case 'write':
        return { kind: write(input) }
    }
  } catch (error) {
    return { kind: 'failed', reason: String(error) }
  }
}

function write({
  path,
  version,
  snapshot,
  near,
}: Extract<Input, { kind: 'write' }>): 'written' | 'near' | 'busy' {
  const temporary = `${path}.new`
  const age = Math.abs(Date.now() - (statSync(temporary, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()))
  if (age > ABANDONED_MS) rmSync(temporary, { force: true })
  if (isNear(cursorIn({ path, version }), snapshot.logPosition.cursor, near)) return 'near'
  const { bavail, bsize } = statfsSync(dirname(path))
  if (sizeOf(snapshot.parts) > bavail * bsize * MAX_SPACE_SHARE)
    throw new Error('the disk has too little room left')
  try {
    writeSnapshot({ path: temporary, version }, snapshot)
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return 'busy'
    rmSync(temporary, { force: true })
    throw error
  }
  renameSync(temporary, path)
  return 'written'
}

function isNear(one: string | undefined, other: string, changes: number): boolean {
  const [a, b] = [partsOf(one ?? ''), partsOf(other)]
  return a !== undefined && b !== undefined && a.epoch === b.epoch && Math.abs(a.id - b.id) < changes
}
