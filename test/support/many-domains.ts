import { record, stored } from './domains.ts'
import type { TestService } from './service.ts'

const PER_CALL = 50_000

/** Names of which one is registered a minute, from the middle of 2025 on. */
export function manyNames(count: number): { readonly name: string; readonly date: string }[] {
  const start = Date.parse('2025-06-01T00:00:00Z')
  return Array.from({ length: count }, (_, i) => ({
    name: `nombre-${i.toString(36)}`,
    date: new Date(start + i * 60_000).toISOString().slice(0, 19).replace('T', ' '),
  }))
}

/** Stores this many names, and returns them in the order of the list: the newest one is the first. */
export async function storeManyDomains(service: TestService, count: number): Promise<readonly string[]> {
  const all = manyNames(count)
  const records = all.map(({ name, date }) => record(name, { date_reg: date }))
  for (let at = 0; at < count; at += PER_CALL)
    await stored(service, records.slice(at, at + PER_CALL), { encoding: 'json' })
  return all.map(({ name }) => name).toReversed()
}
