import type { Change, Fields } from '../../storage/database/changes/change.ts'
import type { MxRecord } from '../../lib/dns/index.ts'

/** A change of name servers, or the first or last MX record of a name. Null: the name did not exist. */
export type DnsNews =
  | { readonly type: 'ns'; readonly from: readonly string[] | null; readonly to: readonly string[] | null }
  | { readonly type: 'mx'; readonly from: readonly MxRecord[]; readonly to: readonly MxRecord[] }

/** Returns undefined for a kind that a newer version writes. */
export function dnsNewsOf({ kind, before, after }: Change): DnsNews | undefined {
  const [from, to] = [answerIn(before), answerIn(after)]
  if (kind === 'ns') return { type: 'ns', from, to }
  return kind === 'mx' ? { type: 'mx', from: from ?? [], to: to ?? [] } : undefined
}

function answerIn(fields: Fields | null) {
  return JSON.parse(String(fields?.['answer'] ?? null))
}

/** A null MX (RFC 7505) says that the domain accepts no mail. */
export function acceptsMail(records: readonly MxRecord[]): boolean {
  return records.some(({ exchange }) => exchange !== '.')
}
