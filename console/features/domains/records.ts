import { callApi } from '../../api/client.ts'
import type { DomainRecord } from '../../../clients/js/schema.ts'

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
