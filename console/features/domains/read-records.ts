import { streamApi } from '../../api/client.ts'
import { linesOf } from './lines.ts'
import { readRecord } from './read-record.ts'
import type { DomainRecord } from './records.ts'

/** Up to this many records are fetched one by one; more come in one export of their days of registration. */
const MAX_SINGLE = 6

/**
 * Fetches the current records, by name.
 * @param seen the records as they were: those deleted, or with another day of registration now, are omitted
 */
export async function readRecords(
  seen: readonly Pick<DomainRecord, 'name' | 'length' | 'date_reg'>[],
  key?: string,
): Promise<ReadonlyMap<string, DomainRecord>> {
  const found = new Map<string, DomainRecord>()
  if (seen.length <= MAX_SINGLE) {
    const records = await Promise.all(seen.map(({ name }) => readRecord(name, undefined, key)))
    for (const record of records) if (record !== null) found.set(record.name, record)
    return found
  }
  const wanted = new Set(seen.map(({ name }) => name))
  const dates = seen.map(({ date_reg }) => date_reg).sort()
  const lengths = seen.map(({ length }) => length)
  const response = await streamApi('/api/v1/domainwatch/export', {
    from: dates[0],
    to: dates.at(-1),
    min_length: Math.min(...lengths),
    max_length: Math.max(...lengths),
    format: 'ndjson',
    fields: 'all',
    ...(key === undefined ? {} : { api: key }),
  })
  for await (const line of linesOf(response)) {
    if (line === '') continue
    // Trusted: the types are generated from the OpenAPI document.
    const record: DomainRecord = JSON.parse(line)
    if (wanted.has(record.name)) found.set(record.name, record)
    if (found.size === wanted.size) break
  }
  return found
}
