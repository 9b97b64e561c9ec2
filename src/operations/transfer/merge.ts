/**
 * Makes a database's tables equal to a source, by going through both in the order of their keys and writing what differs.
 * To copy, to go on after an interruption, to bring a copy up to date and to verify one are all the same pass; it is
 * verified when a pass finds nothing.
 */
import type { Database } from '../../storage/database/database.ts'
import { continueIds, removeRows, storeRows, type Row } from '../../storage/database/rows.ts'
import { CHANGES, type Table } from '../../storage/database/tables.ts'
import { compareKeys, equalRows } from './order.ts'
import { Cursor, rowsIn, type RowSource } from './pages.ts'
import type { Progress } from '../../lib/progress.ts'

/** Rows written in one transaction. */
const BATCH = 5_000

/** @returns how many rows were written or removed */
export async function makeEqual(
  source: RowSource,
  target: Database,
  tables: readonly Table[],
  progress: Progress,
): Promise<number> {
  let changed = 0
  // What refers to others goes before them, and comes after them.
  for (const table of tables.toReversed()) {
    if (table.name !== CHANGES) changed += await removeStrays(source, target, table)
  }
  for (const table of tables) {
    progress.begin(table.name, await source.count(table))
    // The last of all: what was written of the others so far left its trace there.
    if (table.name === CHANGES) changed += await removeStrays(source, target, table)
    changed += await storeDifferent(source, target, table, progress)
    await target.transaction((tx) => continueIds(tx, target.dialect, table))
  }
  progress.end()
  return changed
}

async function removeStrays(source: RowSource, target: Database, table: Table): Promise<number> {
  const ours = new Cursor(source.pages(table, 'keys'))
  // Not from one view: what is written here lies behind what was read, so it is never met again.
  const theirs = new Cursor(rowsIn(target.scanner).pages(table, 'keys'))
  const remove = batched((keys) => target.transaction((tx) => removeRows(tx, target.dialect, table, keys)))
  try {
    for (;;) {
      const there = theirs.row ?? (await theirs.fetched())
      if (there === undefined) break
      const here = ours.row ?? (await ours.fetched())
      const order = here === undefined ? 1 : compareKeys(here, there, table.key.length)
      if (order > 0) await remove.add(there.slice(0, table.key.length))
      if (order >= 0) theirs.step()
      if (order <= 0) ours.step()
    }
    return await remove.end()
  } finally {
    await Promise.all([ours.close(), theirs.close()])
  }
}

async function storeDifferent(
  source: RowSource,
  target: Database,
  table: Table,
  progress: Progress,
): Promise<number> {
  const ours = new Cursor(source.pages(table, 'rows'))
  const theirs = new Cursor(rowsIn(target.scanner).pages(table, 'rows'))
  const store = batched((rows) => target.transaction((tx) => storeRows(tx, target.dialect, table, rows)))
  try {
    for (;;) {
      const here = ours.row ?? (await ours.fetched())
      if (here === undefined) break
      const there = theirs.row ?? (await theirs.fetched())
      const order = there === undefined ? -1 : compareKeys(here, there, table.key.length)
      if (order > 0) {
        theirs.step()
        continue
      }
      if (order < 0 || there === undefined || !equalRows(here, there)) await store.add(here)
      if (order === 0) theirs.step()
      ours.step()
      progress.add(1)
    }
    return await store.end()
  } finally {
    await Promise.all([ours.close(), theirs.close()])
  }
}

/** Gathers rows and hands them on some at a time; the next are gathered while the last are written. */
function batched(write: (rows: readonly Row[]) => Promise<void>) {
  let rows: Row[] = []
  let count = 0
  let writing: Promise<void> = Promise.resolve()
  async function flush() {
    await writing
    if (rows.length === 0) return
    count += rows.length
    writing = write(rows)
    // It is awaited by the next flush; until then nobody may take it for lost.
    writing.catch(() => {})
    rows = []
  }
  return {
    async add(row: Row) {
      rows.push(row)
      if (rows.length >= BATCH) await flush()
    },
    /** @returns how many there were in all */
    async end() {
      await flush()
      await writing
      return count
    },
  }
}
