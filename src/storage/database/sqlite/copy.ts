import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { ensureFileSync, syncFolder } from '../../../lib/private-files.ts'
import { onStorage } from '../faults.ts'

/** More pages than a database has. */
const ALL_PAGES = 2 ** 31 - 1

/** Copies a database, which others may use, as of one moment. The copy appears under its path when it is complete and on the disk. */
export async function copySqlite(path: string, copy: string): Promise<void> {
  const unfinished = `${copy}.unfinished`
  await rm(unfinished, { force: true })
  ensureFileSync(unfinished)
  {
    using source = new DatabaseSync(path, { readOnly: true })
    // All pages in one step: a commit between two steps would start the copy again.
    await backup(source, unfinished, { rate: ALL_PAGES })
  }
  await using file = await open(unfinished, 'r')
  await file.sync()
  await rename(unfinished, copy)
  await syncFolder(dirname(copy))
}

/** Returns the version of the schema of a database file; 0 if there is none. */
export function schemaVersionAt(path: string): number {
  if (!existsSync(path)) return 0
  return onStorage(path, () => {
    using db = new DatabaseSync(path, { readOnly: true })
    return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  })
}
