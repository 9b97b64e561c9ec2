import { record, stored } from './domains.ts'
import type { TestService } from './service.ts'

/** As many names as eight months of the registry's lists have. */
export const REAL_SIZE = 109_431
const PER_CALL = 50_000

/** Names of which one is registered a minute, from the middle of 2025 on. */
export function realNames(count = REAL_SIZE): { readonly name: string; readonly date: string }[] {
  const start = Date.parse('2025-06-01T00:00:00Z')
  return Array.from({ length: count }, (_, i) => ({
    name: `nombre-${i.toString(36)}`,
    date: new Date(start + i * 60_000).toISOString().slice(0, 19).replace('T', ' '),
  }))
}

/** Stores as many names as people have who use this. */
export async function storeRealSize(service: TestService): Promise<void> {
  const all = realNames().map(({ name, date }) => record(name, { date_reg: date }))
  for (let at = 0; at < all.length; at += PER_CALL) await stored(service, all.slice(at, at + PER_CALL))
}
