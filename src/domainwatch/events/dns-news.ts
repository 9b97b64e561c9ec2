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

/** Returns a title in Spanish. */
export function dnsTitle(news: DnsNews, name: string): string {
  if (news.type === 'ns') return `Cambió de servidores de nombres: ${name}`
  return acceptsMail(news.to) ? `Empezó a recibir correo: ${name}` : `Dejó de recibir correo: ${name}`
}

/** Returns what it was and is, in Spanish, as a line of text. */
export function dnsLine(news: DnsNews): string {
  if (news.type === 'ns') return `Servidores de nombres: ${listed(news.to)} (antes: ${listed(news.from)})`
  const hosts = (records: readonly MxRecord[]) => listed(records.map(({ exchange }) => exchange))
  return `Servidores de correo: ${hosts(news.to)} (antes: ${hosts(news.from)})`
}

function listed(hosts: readonly string[] | null): string {
  if (hosts === null) return 'el dominio no existe'
  return hosts.length === 0 ? 'ninguno' : hosts.join(', ')
}
