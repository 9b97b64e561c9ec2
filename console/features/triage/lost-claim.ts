import { accountOf } from '../../api/scope.ts'
import { t } from '../../i18n/index.ts'
import type { DomainRecord } from '../domains/records.ts'
import '../../i18n/texts/triage.ts'

/** Why the record on top is not this account's to decide any more. */
export type LostClaim =
  | { readonly kind: 'expired' | 'taken' }
  | { readonly kind: 'held'; readonly account: string; readonly until: string }
  | { readonly kind: 'decided'; readonly account: string }

/**
 * The state of a record whose claim ended, if it is known.
 * @param shown as the person sees it
 * @param otherwise the message if no one decided on it or holds it
 */
export function lostClaimOf(
  record: DomainRecord,
  shown: DomainRecord,
  otherwise: 'expired' | 'taken',
): LostClaim {
  const { seen, seen_by: decider, claimed_by: holder, claimed_until: until } = record
  const own = accountOf('domainwatch')
  const isDecided = seen === 1 && shown.seen !== 1
  if (isDecided && typeof decider === 'string' && decider !== own)
    return { kind: 'decided', account: decider }
  if (typeof holder === 'string' && holder !== own)
    return { kind: 'held', account: holder, until: until ?? '' }
  return { kind: otherwise }
}

export function lostClaimText(lost: LostClaim): string {
  switch (lost.kind) {
    case 'held':
      return t('triage.held', {
        account: lost.account,
        until: lost.until.slice('YYYY-MM-DD '.length, -':SS'.length),
      })
    case 'decided':
      return t('triage.decided', { account: lost.account })
    default:
      return t(`triage.${lost.kind}`)
  }
}
