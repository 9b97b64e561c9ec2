import type { History } from '../domains/time-line.ts'
import { t, type TextKey } from '../i18n/index.ts'

/** Name servers of earlier days that a card has room for. */
const MAX_BEFORE = 3

export interface Past {
  /** Marks that the record has, with who set them. */
  readonly marks: readonly { readonly text: string; readonly account: string; readonly date: string }[]
  /** Name servers that it had, the newest first. */
  readonly servers: readonly { readonly until: string; readonly text: string }[]
}

const MARKS: Readonly<Record<string, TextKey>> = {
  revision: 'domains.review',
  discarded: 'domains.discarded',
}

/** Who set the marks that a record has, and which name servers it had before the present ones. */
export function pastOf({ data, dns }: History): Past {
  const marks = Object.entries(MARKS).flatMap(([field, label]) => {
    const last = data.find(({ to, from }) => to?.[field] !== undefined && to[field] !== (from?.[field] ?? 0))
    if (last === undefined || last.account === null || last.to?.[field] !== 1) return []
    return [{ text: t(label), account: last.account, date: last.date }]
  })
  const servers = dns.slice(1, 1 + MAX_BEFORE).map(({ last, dns: names, status }) => ({
    until: last,
    text:
      status === 404 ? t('history.noName') : names.length === 0 ? t('history.noServers') : names.join(', '),
  }))
  return { marks, servers }
}
