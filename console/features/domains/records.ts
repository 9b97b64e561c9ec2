import { callApi, streamApi } from '../../api/client.ts'
import type { DomainRecord } from '../../api/schema.ts'

export type { DomainRecord }

/** The A-label; undefined if it equals the name. */
export function toALabel(name: string): string | undefined {
  if (/^[\x20-\x7e]*$/.test(name)) return undefined
  const { hostname } = new URL(`http://${name}.cl`)
  return hostname.slice(0, -'.cl'.length)
}

/** Fetches the current record; null if there is none. */
export async function readRecord(name: string, signal?: AbortSignal): Promise<DomainRecord | null> {
  // Among the names that contain it, only the name itself has this length.
  const query = { search: name, length: [...name].length, limit: 1, fields: 'all' }
  const { data } = await callApi('GET /api/v1/domainwatch/list', { query, signal })
  return data.data[0]?.find((record) => record.name === name) ?? null
}

/** Up to this many records are fetched one by one; more come in one export of their days of registration. */
const MAX_SINGLE = 6

/**
 * Fetches the current records, by name.
 * @param seen the records as they were: those deleted, or with another day of registration now, are omitted
 */
export async function readRecords(
  seen: readonly Pick<DomainRecord, 'name' | 'length' | 'date_reg'>[],
): Promise<ReadonlyMap<string, DomainRecord>> {
  const found = new Map<string, DomainRecord>()
  if (seen.length <= MAX_SINGLE) {
    const records = await Promise.all(seen.map(({ name }) => readRecord(name)))
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
  })
  for await (const line of toLines(response)) {
    if (line === '') continue
    // Trusted: the types are generated from the OpenAPI document.
    const record: DomainRecord = JSON.parse(line)
    if (wanted.has(record.name)) found.set(record.name, record)
    if (found.size === wanted.size) break
  }
  return found
}

/** Yields the lines of a body as they arrive. Leaving the loop aborts the download. */
async function* toLines(response: Response): AsyncGenerator<string> {
  if (response.body === null) return
  let rest = ''
  for await (const text of chunksOf(response.body)) {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

/** Not every browser can iterate over streams. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
