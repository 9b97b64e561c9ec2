import { Icon } from '../../design/icon.tsx'
import type { DomainRecord } from './records.ts'
import { objectionDays, type TimeLeft, timeLeftText } from './time-left.ts'
import { dateTime, t, tn } from '../../i18n/index.ts'
import { Tag } from '../../design/tag.tsx'

export function StatusTag({ status }: { status: number }) {
  return status === 1 ? (
    <Tag icon="lock" label={t('domains.bought')} />
  ) : (
    <Tag icon="check" look="free" label={t('domains.free')} />
  )
}

export function MarkTags({ record, left }: { record: DomainRecord; left: TimeLeft | undefined }) {
  return (
    <>
      {record.revision === 1 && <Tag icon="flag" look="review" label={t('domains.review')} />}
      {record.reserved === 1 && <Tag label={t('domains.reserved')} />}
      {record.discarded === 1 && (
        <span className="tag">
          <Icon name={left === undefined ? 'trash' : 'clock'} />
          {left === undefined ? (
            t('domains.discarded')
          ) : (
            <>
              <span className="visually-hidden">
                {t('domains.discardedLeft', { left: timeLeftText(left) })}
              </span>
              <span aria-hidden="true" className="figures">
                {timeLeftText(left)}
              </span>
            </>
          )}
        </span>
      )}
    </>
  )
}

/** In rows only the last days are marked: at first every registered name has them. */
const LAST_DAYS = 7

/** How many days are left to object to the registration. */
export function ObjectionTag({ record, isRow = false }: { record: DomainRecord; isRow?: boolean }) {
  const days = objectionDays(record)
  if (days === undefined || (isRow && days > LAST_DAYS)) return null
  const text = tn('domains.objectionLeft', days)
  return (
    <span className={isRow ? 'tag shortens' : 'tag'} title={text}>
      <Icon name="alert" />
      <span className="ellipsis">{text}</span>
    </span>
  )
}

/** Who discarded an earlier record of the name, and when. */
export function DismissedTag({ record: { dismissed_by: by, dismissed_at: at } }: { record: DomainRecord }) {
  if (typeof at !== 'string') return null
  return (
    <span className="tag" title={at}>
      <Icon name="trash" />
      {typeof by === 'string' ? t('domains.dismissedBy', { account: by }) : t('domains.dismissed')}
    </span>
  )
}

/** Who has decided on a record and when; undefined until the decision is stored. */
export function seenBy({ seen_by: account, seen_at: at }: DomainRecord): string | undefined {
  if (typeof account !== 'string' || typeof at !== 'string') return undefined
  return t('domains.seenBy', { account, date: dateTime(at) })
}

/** Tags that fit in a row; the details show all. */
const MAX_TAGS = 2

/** Annotations of a name: who holds it, whether it has a note, who has decided, and its tags, which may be cut off. */
export function DecisionTags({ record }: { record: DomainRecord }) {
  const { tags = [], note = '', seen, claimed_by: holder } = record
  const decided = [t('domains.isSeen'), seenBy(record)].join(' ').trim()
  return (
    <>
      {holder !== undefined && holder !== null && (
        <span className="tag shortens" title={t('columns.heldBy', { account: holder })}>
          <Icon name="person" />
          <span className="ellipsis">{t('columns.heldBy', { account: holder })}</span>
        </span>
      )}
      {note !== '' && (
        <span className="tag" title={note}>
          <Icon name="note" />
          <span className="visually-hidden">{t('columns.note', { note })}</span>
        </span>
      )}
      {seen === 1 && (
        <span className="tag" title={decided}>
          <Icon name="check" />
          <span className="visually-hidden">{decided}</span>
        </span>
      )}
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <span key={tag} className="tag own shortens" title={tag}>
          <span className="ellipsis">{tag}</span>
        </span>
      ))}
      {tags.length > MAX_TAGS && (
        <span className="tag" title={tags.join(', ')}>
          +{tags.length - MAX_TAGS}
        </span>
      )}
    </>
  )
}
