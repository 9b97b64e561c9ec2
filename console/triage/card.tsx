import { useStore } from '../app/store.ts'
import { Fault, Link } from '../design/parts.tsx'
import { DnsOutcome, useDns } from '../domains/dns-now.tsx'
import { MarkTags, StatusTag } from '../domains/marks-cell.tsx'
import { DomainName } from '../domains/name.tsx'
import { changedRecords, patched, patches } from '../domains/overlay.ts'
import type { DomainRecord } from '../domains/records.ts'
import { t } from '../i18n/index.ts'

/** One record to decide on, with what others do to it meanwhile. */
export function Card({ record: read }: { record: DomainRecord }) {
  const over = useStore(patches)
  const record = patched(useStore(changedRecords).get(read.name) ?? read, over)
  const { data, error, refetch } = useDns(record.name)
  return (
    <section className="triage-card" aria-live="polite" aria-atomic="true">
      <p className="triage-name" data-long={record.length > 22 ? 'yes' : 'no'}>
        <DomainName name={record.name} />
      </p>
      <p className="row center">
        <StatusTag status={record.status} />
        <MarkTags record={record} left={undefined} />
        <span className="muted mono">{record.date_reg}</span>
        <span className="muted">{record.agent}</span>
      </p>
      <div className="triage-dns">
        <h2 className="muted">{t('sheet.dns')}</h2>
        {error !== null && <Fault error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <p className="muted">{t('sheet.dnsAsking')}</p>}
        {data !== undefined && <DnsOutcome outcome={data} />}
      </div>
      <Link
        to="dominios"
        query={new URLSearchParams({ search: record.name, ficha: record.name })}
        className="triage-details"
      >
        {t('domains.details')}
      </Link>
    </section>
  )
}
