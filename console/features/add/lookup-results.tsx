import { useMemo } from 'react'
import { errorMessage } from '../../api/error-message.ts'
import { Button } from '../../design/button.tsx'
import { Icon } from '../../design/icon.tsx'
import { Link } from '../../design/link.tsx'
import { MarkTags, StatusTag } from '../domains/status-tags.tsx'
import { DomainName } from '../domains/domain-name.tsx'
import type { DomainRecord } from '../domains/records.ts'
import { t, tn } from '../../i18n/index.ts'
import type { LookupResult } from './lookup.ts'
import type { PastedNames } from './pasted-names.ts'

interface Props {
  readonly pasted: PastedNames
  readonly found: ReadonlyMap<string, LookupResult>
  readonly isLooking: boolean
  readonly onRetry: () => void
}

/** The verdict on each name, problems first. */
export function LookupResults({ pasted, found, isLooking, onRetry }: Props) {
  const { names, invalid, repeated } = pasted
  const { fresh, recorded, failed, asked } = useMemo(() => sorted(names, found), [names, found])
  if (names.length + invalid.length === 0) return <p className="muted">{t('add.empty')}</p>
  return (
    <section className="stack verdicts" aria-busy={isLooking}>
      <p className="row figures" role="status">
        {isLooking && <span className="spinner" />}
        <span className="tag free">{tn('add.new', fresh.length)}</span>
        <span className="tag">{tn('add.recorded', recorded.length)}</span>
        {invalid.length > 0 && <span className="tag danger">{tn('add.invalid', invalid.length)}</span>}
        {repeated > 0 && <span className="muted">{tn('add.repeated', repeated)}</span>}
        {asked > 0 && <span className="muted">{tn('add.asking', asked)}</span>}
      </p>
      {failed !== undefined && (
        <p className="callout danger" role="alert">
          {t('add.unknown', { reason: errorMessage(failed) })}{' '}
          <Button look="quiet" label={t('app.retry')} onClick={onRetry} />
        </p>
      )}
      <ul className="verdict-list">
        {invalid.map(({ text, reason }) => (
          <li key={`no ${text}`} className="verdict">
            <code>{text}</code>
            <span className="tag danger">
              <Icon name="alert" />
              {t(reason)}
            </span>
          </li>
        ))}
        {recorded.map((record) => (
          <li key={record.name} className="verdict">
            <Link to="dominios" query={new URLSearchParams({ search: record.name, ficha: record.name })}>
              <DomainName name={record.name} />
            </Link>
            <span className="row">
              <StatusTag status={record.status} />
              <MarkTags record={record} left={undefined} />
              <span className="muted">{t('add.isRecorded')}</span>
            </span>
          </li>
        ))}
        {fresh.map((name) => (
          <li key={name} className="verdict">
            <DomainName name={name} />
            <span className="tag free">
              <Icon name="plus" />
              {t('add.isNew')}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function sorted(names: readonly string[], found: ReadonlyMap<string, LookupResult>) {
  const fresh: string[] = []
  const recorded: DomainRecord[] = []
  let failed: unknown
  let asked = 0
  for (const name of names) {
    const one = found.get(name)
    if (one === undefined) asked++
    else if ('error' in one) failed = one.error
    else if (one.record === null) fresh.push(name)
    else recorded.push(one.record)
  }
  return { fresh, recorded, failed, asked }
}
