import { Icon } from '../design/icon.tsx'
import { t } from '../i18n/index.ts'
import type { DomainRecord } from './records.ts'

/** Tags that fit in a row; the details show all. */
const MAX_TAGS = 2

/** Annotations of a name: who holds it, its tags, whether it has a note, and who has decided. */
export function DecisionTags({
  record: { tags = [], note = '', seen, seen_by: by, seen_at: at, claimed_by: holder },
}: {
  record: DomainRecord
}) {
  const decided = t('columns.seenBy', { account: by ?? '–', at: at ?? '' })
  return (
    <>
      {holder !== undefined && holder !== null && (
        <span className="tag">
          <Icon name="person" />
          {t('columns.heldBy', { account: holder })}
        </span>
      )}
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <span key={tag} className="tag own">
          {tag}
        </span>
      ))}
      {tags.length > MAX_TAGS && (
        <span className="tag" title={tags.join(', ')}>
          +{tags.length - MAX_TAGS}
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
    </>
  )
}
