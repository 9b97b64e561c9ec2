import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { corpus } from './corpus.ts'
import { add, record } from './domains.ts'
import type { TestService } from './service.ts'

const folder = new URL('registrations/', corpus)
/** As many as a real installation holds after some months. */
const COUNT = 109_431
const BATCH = 40_000
/** `nombre0`, `nombre1` and so on, at least this many, older than the others. */
const MADE_UP = 100
const OLDER = Date.UTC(2025, 3, 30)

/** Registrations of some months, newest first: those of the corpus, and made-up names. */
function registrations(count: number): readonly (readonly [name: string, date: string])[] {
  const rows = new Map<string, string>()
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.csv.gz'))) {
    const [, ...lines] = gunzipSync(readFileSync(new URL(file, folder)))
      .toString()
      .split('\n')
    for (const line of lines) {
      const [, name, date] = /^([^,]+)\.cl,(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/.exec(line) ?? []
      if (name !== undefined && date !== undefined) rows.set(name, date)
    }
  }
  const all = [...rows].slice(0, count - MADE_UP)
  for (let i = 0; all.length < count; i++) {
    const date = new Date(OLDER - i * 180_000).toISOString().slice(0, 19).replace('T', ' ')
    all.push([`nombre${i}`, date])
  }
  return all.sort(([a, one], [b, other]) => (one === other ? (a < b ? 1 : -1) : one < other ? 1 : -1))
}

/** Fills a service with bought domains, and returns their names in the order of the list. */
export async function storeManyDomains(service: TestService, count = COUNT): Promise<readonly string[]> {
  const rows = registrations(count)
  for (let i = 0; i < rows.length; i += BATCH) {
    const batch = rows.slice(i, i + BATCH).map(([name, date_reg]) => record(name, { date_reg }))
    const { body } = await add(service, batch, { encoding: 'json' })
    assert.deepEqual(body, { status: 200, count: batch.length })
  }
  return rows.map(([name]) => name)
}
