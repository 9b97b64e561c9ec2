/** Tasks for another thread: writes the index to a file, or reads it. */
import { renameSync, rmSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { partsOf } from '../../storage/database/changes/change.ts'
import { sizeOf } from '../../lib/name-index/index.ts'
import { cursorIn, readSnapshot, writeSnapshot, type IndexFile, type Snapshot } from '../list/index-file.ts'

export type Input =
  | (IndexFile & { readonly kind: 'read'; readonly memory: number })
  /** Unless there is one already that is no more than `near` changes away. */
  | (IndexFile & { readonly kind: 'write'; readonly snapshot: Snapshot; readonly near: number })

export type Output =
  | { readonly kind: 'read'; readonly snapshot: Snapshot | undefined }
  /** `busy`: another process is writing it. */
  | { readonly kind: 'written' | 'near' | 'busy' }
  | { readonly kind: 'failed'; readonly reason: string }

/** A file that was begun longer ago, or in the future, was left behind by a killed process. */
const ABANDONED_MS = 120_000
/** The file takes at most this part of the free disk space: what others write there matters more. */
const PART_OF_ROOM = 1 / 3

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
  const begun = `${path}.new`
  const age = Math.abs(Date.now() - (statSync(begun, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()))
  if (age > ABANDONED_MS) rmSync(begun, { force: true })
  if (isNear(cursorIn({ path, version }), snapshot.logPosition.cursor, near)) return 'near'
  const { bavail, bsize } = statfsSync(dirname(path))
  if (sizeOf(snapshot.parts) > bavail * bsize * PART_OF_ROOM)
    throw new Error('the disk has too little room left')
  try {
    writeSnapshot({ path: begun, version }, snapshot)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return 'busy'
    rmSync(begun, { force: true })
    throw error
  }
  renameSync(begun, path)
  return 'written'
}

function isNear(one: string | undefined, other: string, changes: number): boolean {
  const [a, b] = [partsOf(one ?? ''), partsOf(other)]
  return a !== undefined && b !== undefined && a.epoch === b.epoch && Math.abs(a.id - b.id) < changes
}
