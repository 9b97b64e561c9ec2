import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { generateDomains, type DomainRecord } from './domains.ts'

/** Lists of the registry, as it lays them out; not everywhere beside a checkout. */
const CORPUS = new URL('../../../shared/corpus/registrations/', import.meta.url)

/** So many records, each name once: real registrations first, where they are at hand, then generated ones. */
export function recordsOf(count: number): DomainRecord[] {
  const records = new Map<string, DomainRecord>()
  const take = (record: DomainRecord) => {
    if (records.size < count) records.set(record.domain, record)
  }
  for (const record of realRecords()) take(record)
  for (const record of generateDomains(count)) if (!records.has(record.domain)) take(record)
  return [...records.values()]
}

/** What is registered in the lists at hand: all of it bought, none of it reserved. */
function realRecords(): DomainRecord[] {
  if (!existsSync(CORPUS)) return []
  return readdirSync(CORPUS).flatMap((file) => {
    const lines = gunzipSync(readFileSync(new URL(file, CORPUS)))
      .toString('utf8')
      .split('\n')
      .slice(1)
    return lines.flatMap((line) => {
      const [, domain = '', date_reg] =
        /^([^,]+)\.cl,(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/.exec(line.trim()) ?? []
      return date_reg === undefined
        ? []
        : [{ domain, length: domain.length, reserve: 0, status: 1, date_reg } satisfies DomainRecord]
    })
  })
}
