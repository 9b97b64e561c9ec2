import { useDeferredValue, useEffect, useMemo, type FormEvent, useState } from 'react'
import { MAX_AGENT_CHARACTERS } from '../../base/constants.ts'
import { usePendingSubjects } from '../work/operations.ts'
import { createLimiter } from '../../base/concurrency-limiter.ts'
import { useDebounced, useStore, createStore } from '../../base/store.ts'
import { Button, Link, Tag } from '../../design/elements.tsx'
import { Page } from '../../design/page.tsx'
import { toSubject } from '../domains/marks.ts'
import { t, tn } from '../../i18n/index.ts'
import { addNames, type CommonValues } from './add-names.ts'
import { MAX_NAMES, parsePasted, type PastedNames } from './pasted-names.ts'
import { SelectField, TextArea, TextField, Check } from '../../design/field.tsx'
import { localNow, serverNow } from '../../base/server.ts'
import { guardWork } from '../../base/unsaved-work.ts'
import { errorMessage } from '../../api/error-message.ts'
import { withRetries } from '../../api/retry.ts'
import { DomainName, MarkTags, StatusTag } from '../domains/tags.tsx'
import { type DomainRecord, readRecord } from '../domains/records.ts'
import '../../i18n/texts/adding.ts'
import './add.css'

/** Adds typed or pasted names, and shows which are recorded already or not valid. */
export default function AddScreen() {
  const { text, facts } = useStore(draft)
  const setText = (next: string) => draft.set({ ...draft.get(), text: next })
  useEffect(renewDraft, [])
  const late = useDeferredValue(text)
  const pasted = useMemo(() => parsePasted(late), [late])
  const { names } = pasted
  const { found, forget } = useLookup(names)
  const fresh = names.filter((name) => isNew(found.get(name)))
  const isLooking = late !== text || names.some((name) => !found.has(name))
  const pending = usePendingSubjects()
  const isPending = fresh.some((name) => pending.has(toSubject(name)))
  const isReady = fresh.length > 0 && !isLooking && !isPending && !pasted.isTooLong
  const hasNew = fresh.length > 0 && !isPending
  useEffect(() => noteNewNames(hasNew), [hasNew])

  function add(event: FormEvent) {
    event.preventDefault()
    if (!isReady) return
    const askedAt = Math.min(...fresh.map((name) => found.get(name)?.askedAt ?? 0))
    const handle = addNames(fresh, facts, askedAt)
    // Show added names as recorded, and rejected ones as new.
    void handle?.settled.then(() => forget((name) => fresh.includes(name)))
  }

  return (
    <Page isWide title={t('nav.add')}>
      <form className="add" onSubmit={add}>
        <div className="stack">
          <TextArea
            label={t('add.names')}
            hint={t('add.hint', { n: MAX_NAMES })}
            look="mono"
            rows={12}
            spellCheck={false}
            autoCapitalize="none"
            placeholder={t('add.placeholder')}
            value={text}
            onChange={setText}
          />
          <FactFields facts={facts} onChange={(next) => draft.set({ ...draft.get(), facts: next })} />
          <div className="row">
            <Button
              look="primary"
              icon="plus"
              label={fresh.length === 0 ? t('add.addNone') : tn('add.add', fresh.length)}
              type="submit"
              disabled={!isReady}
            />
            {text !== '' && <Button look="quiet" label={t('add.clear')} onClick={() => setText('')} />}
          </div>
          {pasted.isTooLong && (
            <p className="callout danger" role="alert">
              {t('add.tooMany', { n: MAX_NAMES })} <Link to="importar">{t('nav.import')}</Link>
            </p>
          )}
        </div>
        <LookupResults
          pasted={pasted}
          found={found}
          isLooking={isLooking}
          onRetry={() => forget((_, result) => 'error' in result)}
        />
      </form>
    </Page>
  )
}

function FactFields({ facts, onChange }: { facts: CommonValues; onChange: (facts: CommonValues) => void }) {
  return (
    <fieldset className="add-facts">
      <legend className="visually-hidden">{t('add.facts')}</legend>
      <SelectField
        label={t('domains.state')}
        value={facts.status === 1 ? '1' : '0'}
        options={['0', '1']}
        textOf={(one) => t(one === '1' ? 'domains.registered' : 'domains.free')}
        onChange={(one) => onChange({ ...facts, status: one === '1' ? 1 : 0 })}
      />
      <TextField
        label={t('add.date')}
        type="datetime-local"
        step={1}
        required
        value={facts.date.replace(' ', 'T')}
        onChange={(date) => onChange({ ...facts, date: getDate(date) })}
      />
      <TextField
        label={t('domains.agent')}
        maxLength={MAX_AGENT_CHARACTERS}
        placeholder={t('add.agentSelf')}
        value={facts.agent}
        onChange={(agent) => onChange({ ...facts, agent: agent.trimStart() })}
      />
      <Check
        label={t('domains.reserved')}
        value={facts.reserve === 1}
        onChange={(isReserved) => onChange({ ...facts, reserve: isReserved ? 1 : 0 })}
      />
    </fieldset>
  )
}

/** Returns `2026-01-12 15:00:00` from the value of the control, which omits zero seconds. */
function getDate(value: string): string {
  const [day = '', time = ''] = value.split('T')
  return value === '' ? '' : `${day} ${time.length === 5 ? `${time}:00` : time.slice(0, 8)}`
}

/** What the user has entered and not added yet: it survives a visit of another screen. */
interface Draft {
  readonly text: string
  readonly facts: CommonValues
}

const emptyDraft = (): Draft => ({ text: '', facts: { status: 0, reserve: 0, date: localNow(), agent: '' } })

const draft = createStore<Draft>(emptyDraft())

let hasNewNames = false

guardWork(() => hasNewNames)

/** Notes whether it has names that are still to be added, also for the time after the screen was left. */
function noteNewNames(has: boolean): void {
  hasNewNames = has
}

/** Called when the screen opens: a draft without names has the time and the choices of an earlier visit. */
function renewDraft(): void {
  if (draft.get().text === '') draft.set(emptyDraft())
}

interface Props {
  readonly pasted: PastedNames
  readonly found: ReadonlyMap<string, LookupResult>
  readonly isLooking: boolean
  readonly onRetry: () => void
}

/** The verdict on each name, problems first. */
function LookupResults({ pasted, found, isLooking, onRetry }: Props) {
  const { names, invalid, repeated } = pasted
  const { fresh, recorded, failed, asked } = useMemo(() => sorted(names, found), [names, found])
  if (names.length + invalid.length === 0) return <p className="muted">{t('add.empty')}</p>
  return (
    <section className="stack verdicts" aria-busy={isLooking}>
      <p className="row figures" role="status">
        {isLooking && <span className="spinner" />}
        <Tag look="free" label={tn('add.new', fresh.length)} />
        <Tag label={tn('add.recorded', recorded.length)} />
        {invalid.length > 0 && <Tag look="danger" label={tn('add.invalid', invalid.length)} />}
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
            <Tag icon="alert" look="danger" label={t(reason)} />
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
            <Tag icon="plus" look="free" label={t('add.isNew')} />
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

/** Concurrent look-ups. A browser opens six connections per host: some stay free for the rest of the page. */
const MAX_RUNNING = 4
/** Names whose results are rendered together. */
const BATCH = 20
/** Delay while the user types. */
const START_AFTER_MS = 200

/** The result for a name: its record, nothing, or the reason why it is unknown. */
type LookupResult = {
  /** When it was looked up, by the service's clock. */
  readonly askedAt: number
} & ({ readonly record: DomainRecord | null } | { readonly error: unknown })

const isNew = (found: LookupResult | undefined): boolean =>
  found !== undefined && 'record' in found && found.record === null

const slots = createLimiter(MAX_RUNNING)

async function lookUp(name: string, signal: AbortSignal): Promise<readonly [string, LookupResult]> {
  const askedAt = serverNow()
  try {
    return [name, { askedAt, record: await withRetries(() => readRecord(name, signal), signal) }]
  } catch (error) {
    return [name, { askedAt, error }]
  }
}

/** Looks these names up, each once, a few at a time. Those that are removed from the box are not looked up. */
function useLookup(names: readonly string[]) {
  const [found, setFound] = useState<ReadonlyMap<string, LookupResult>>(new Map())
  const settled = useDebounced(names, START_AFTER_MS)
  useEffect(() => {
    const left = new AbortController()
    const { signal } = left
    const batch = (settled ?? []).filter((name) => !found.has(name)).slice(0, BATCH)
    void Promise.all(batch.map((name) => slots.run(() => lookUp(name, signal)))).then((results) => {
      if (results.length > 0 && !signal.aborted) setFound((known) => new Map([...known, ...results]))
    })
    return () => left.abort()
  }, [settled, found])
  return {
    found,
    /** Drops results that may have changed, to be looked up again. */
    forget: (isMeant: (name: string, result: LookupResult) => boolean) =>
      setFound((known) => new Map([...known].filter(([name, result]) => !isMeant(name, result)))),
  }
}
