import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { domainStream, type DomainRecord } from './domains.ts'

/** Lists of the registry, as it lays them out; not everywhere beside a checkout. */
const CORPUS = new URL('../../../shared/corpus/registrations/', import.meta.url)

/** So many records, each name once: real registrations first, where they are at hand, then generated ones. */
export function* streamOf(count: number): Generator<DomainRecord> {
  const real = new Map(realRecords().map((record) => [record.domain, record]))
  let left = count
  for (const record of real.values()) {
    if (left-- === 0) return
    yield record
  }
  for (const record of domainStream(count)) {
    if (real.has(record.domain)) continue
    if (left-- === 0) return
    yield record
  }
}

export const recordsOf = (count: number): DomainRecord[] => [...streamOf(count)]

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
