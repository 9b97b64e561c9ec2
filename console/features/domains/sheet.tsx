import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { usePermissions } from '../../api/scope.ts'
import { takesLetters } from '../../base/shortcuts.ts'
import { useStore } from '../../base/store.ts'
import { Button, IconButton, onFirstClick, Time, Fact } from '../../design/elements.tsx'
import { CopyButton } from '../../design/buttons.tsx'
import { QueryError, Notice } from '../../design/notice.tsx'
import { t } from '../../i18n/index.ts'
import { DnsLookup, Because, RecordFacts, Lookalikes, RecordTags } from './record-facts.tsx'
import { DomainHistory } from './history.tsx'
import { useTimeLeft, seenBy, DomainName } from './tags.tsx'
import { setMark } from './marks.ts'
import { NoteField, TagField } from './annotation-fields.tsx'
import { patches, useCurrentRecord } from './optimistic-updates.ts'
import { readRecord, toALabel, type DomainRecord } from './records.ts'
import '../../i18n/texts/sheet.ts'

interface Props {
  readonly name: string
  readonly onClose: () => void
  /** Steps to the next or previous row of the table. */
  readonly onStep: (by: 1 | -1) => void
}

/** The details of a domain, next to the table. */
export default function Sheet({ name, onClose, onStep }: Props) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const before = document.activeElement
    // The code of the details may come while the user types elsewhere.
    if (!takesLetters(before)) title.current?.focus({ preventScroll: true })
    return () => {
      const isLost = document.activeElement === null || document.activeElement === document.body
      if (isLost && before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <aside className="sheet" aria-label={t('sheet.label', { name: `${name}.cl` })}>
      <header className="sheet-head">
        <h2 ref={title} tabIndex={-1} className="grow">
          <DomainName name={name} />
        </h2>
        <IconButton icon="up" label={t('sheet.previous')} onClick={() => onStep(-1)} />
        <IconButton icon="down" label={t('sheet.next')} onClick={() => onStep(1)} />
        <IconButton icon="close" label={t('app.close')} onClick={onClose} />
      </header>
      <RecordPart name={name} />
      <DnsLookup name={name} />
      <DomainHistory name={name} />
      <Lookalikes name={name} />
    </aside>
  )
}

function useRecord(name: string) {
  const query = useQuery({
    queryKey: ['domains', 'record', name],
    queryFn: ({ signal }) => readRecord(name, signal),
  })
  const isPatched = useStore(patches).has(name)
  const wasPatched = useRef(isPatched)
  const { refetch } = query
  useEffect(() => {
    // The table has reloaded it and dropped its local changes, so the record read here is older.
    if (wasPatched.current && !isPatched) void refetch()
    wasPatched.current = isPatched
  }, [isPatched, refetch])
  const toCurrent = useCurrentRecord()
  return { ...query, record: query.data && toCurrent(query.data) }
}

function RecordPart({ name }: { name: string }) {
  const { record, ...query } = useRecord(name)
  if (record === null) return <Notice icon="search" title={t('domains.gone')} />
  if (record === undefined && query.error === null) return <div className="bone" />
  return (
    <>
      <QueryError of={query} />
      {record !== undefined && <Details record={record} />}
    </>
  )
}

function Details({ record }: { record: DomainRecord }) {
  const isLocked = !usePermissions()('writeDomains')
  const left = useTimeLeft()(record)
  const ascii = toALabel(record.name)
  return (
    <section className="stack">
      <RecordTags record={record} left={left} />
      <div className="row">
        <Button
          icon="flag"
          label={t(record.revision === 1 ? 'domains.fromReview' : 'domains.toReview')}
          disabled={isLocked}
          aria-pressed={record.revision === 1}
          onClick={onFirstClick(() => setMark([record], 'revision', record.revision === 1 ? 0 : 1))}
        />
        <Button
          icon={record.discarded === 1 ? 'undo' : 'trash'}
          label={t(record.discarded === 1 ? 'domains.takeBack' : 'domains.discard')}
          disabled={isLocked}
          onClick={onFirstClick(() => setMark([record], 'discarded', record.discarded === 1 ? 0 : 1))}
        />
        <CopyButton text={`${record.name}.cl`} isPlain />
      </div>
      <RecordFacts record={record}>
        {ascii !== undefined && (
          <Fact label={t('sheet.ascii')} className="mono">
            {ascii}.cl
          </Fact>
        )}
        <Fact label={t('domains.changed')}>
          <Time at={record.date_mod} />
        </Fact>
        <Fact label={t('domains.isSeen')}>
          {seenBy(record) ?? t(record.seen === 1 ? 'app.yes' : 'sheet.notSeen')}
        </Fact>
      </RecordFacts>
      <Because record={record} />
      <NoteField record={record} isLocked={isLocked} />
      <TagField record={record} isLocked={isLocked} />
    </section>
  )
}
