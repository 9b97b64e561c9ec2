import { callApi } from '../../api/client.ts'
import type { DomainRecord } from './records.ts'

/** Fetches the current record; null if there is none. */
export async function readRecord(
  name: string,
  signal?: AbortSignal,
  key?: string,
): Promise<DomainRecord | null> {
  // Among the names that contain it, only the name itself has this length.
  const query = { search: name, length: [...name].length, limit: 1, fields: 'all' }
  const { data } = await callApi('GET /api/v1/domainwatch/list', {
    query,
    ...(signal === undefined ? {} : { signal }),
    ...(key === undefined ? {} : { key }),
  })
  return data.data[0]?.find((record) => record.name === name) ?? null
}
