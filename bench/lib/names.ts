import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { domainStream, type DomainRecord } from './domains.ts'

/** Original lists of the registry; not available next to every checkout. */
const CORPUS = new URL('../../../shared/corpus/registrations/', import.meta.url)

/** Returns `count` records with unique names: real registrations first, if available, then generated ones. */
export function* getStream(count: number): Generator<DomainRecord> {
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

export const toRecords = (count: number): DomainRecord[] => [...getStream(count)]

/** Registrations of the available lists; none is reserved. */
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
