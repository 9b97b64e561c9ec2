import type { History } from '../domains/timeline.ts'
import { t, type TextKey } from '../../i18n/index.ts'
import '../../i18n/texts/sheet.ts'

/** Maximum number of earlier name servers on a card. */
const MAX_BEFORE = 3

export interface RecordHistory {
  /** Marks of the record, with their authors. */
  readonly marks: readonly { readonly text: string; readonly account: string; readonly date: string }[]
  /** Earlier name servers, newest first. */
  readonly servers: readonly { readonly until: string; readonly text: string }[]
}

const MARKS: Readonly<Record<string, TextKey>> = {
  revision: 'domains.review',
  discarded: 'domains.discarded',
}

/** Returns who set the marks of a record, and its earlier name servers. */
export function recordHistoryOf({ data, dns }: History): RecordHistory {
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
