import { copyFile, readFile, stat } from 'node:fs/promises'
import type { DomainRecord } from './domains.ts'
import { loadBare, openBare, preparedUpsert, toRow } from './raw-upsert.ts'

const DATE_BYTES = 8

/** Lower bounds for the same names without the service. */
export interface Floors {
  /** Bare prepared upserts of the records, sorted as `import` sorts them, `synchronous=FULL`. */
  readonly importSeconds: number
  /** Letters, and three dates as integers. */
  readonly bytesPerName: number
  /** Iterating over all rows with all columns. */
  readonly selectSeconds: number
  /** Summing up all letters of all names. */
  readonly passSeconds: number
  /** Upserts these records in one transaction. */
  upsertSeconds(records: readonly DomainRecord[]): number
  close(): void
}

/**
 * Loads the names into a separate database.
 * @param schema path of an empty database of the service
 */
export async function growthFloors(schema: string, records: Iterable<DomainRecord>): Promise<Floors> {
  const path = `${schema}-floor.db`
  await copyFile(schema, path)
  const db = openBare(path)
  const upsert = preparedUpsert(db)
  let letters = 0
  let count = 0
  function* counted() {
    for (const record of records) {
      letters += record.length
      count++
      yield record
    }
  }
  const importSeconds = timed(() => loadBare(db, counted()))
  const octets = new Uint8Array(letters).fill(97)
  let sum = 0
  const passSeconds = timed(() => {
    for (let at = 0; at < octets.length; at++) sum += octets[at] ?? 0
  })
  // Uses the sum, which prevents dead code elimination.
  if (sum !== 97 * letters) throw new Error('letters were lost')
  return {
    importSeconds,
    bytesPerName: letters / count + 3 * DATE_BYTES,
    selectSeconds: timed(() => {
      const statement = db.prepare('SELECT * FROM domains')
      statement.setReturnArrays(true)
      for (const _ of statement.iterate());
    }),
    passSeconds,
    upsertSeconds: (some) =>
      timed(() => {
        db.exec('BEGIN')
        for (const record of some) upsert(toRow(record))
        db.exec('COMMIT')
      }),
    close: () => db.close(),
  }
}

/** Measures reading a whole file, in seconds. Undefined if it does not exist. */
export async function readSeconds(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return undefined
  const start = performance.now()
  await readFile(path)
  return (performance.now() - start) / 1000
}

function timed(work: () => void): number {
  const start = performance.now()
  work()
  return (performance.now() - start) / 1000
}
