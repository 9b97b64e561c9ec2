import { useEffect, useRef, useState } from 'react'
import { errorMessage } from '../../api/error-message.ts'
import { useStore } from '../../base/store.ts'
import { Button, Icon, Tag } from '../../design/elements.tsx'
import { t, bytes, count, language, type TextKey, dateTime, duration, tn } from '../../i18n/index.ts'
import {
  changeChoice,
  chooseList,
  chosenList,
  dropChoice,
  FORMATS,
  sendList,
  type ChosenList,
  type Window,
} from './imports.ts'
import { SelectField, TextField } from '../../design/field.tsx'
import { IMPORTS, isOpen, type ImportJob } from '../work/jobs.ts'
import { useQuery } from '@tanstack/react-query'
import { QueryError } from '../../design/notice.tsx'
import { showError } from '../../design/toasts.tsx'
import { Page, WideTable } from '../../design/page.tsx'
import '../../i18n/texts/importing.ts'
import './import.css'

/** Takes a dropped list of the registry, which the service imports, and shows earlier imports. */
export default function ImportScreen() {
  const list = useStore(chosenList)
  const [fault, setFault] = useState<string>()
  const picker = useRef<HTMLInputElement>(null)
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? []
    if (file === undefined) return
    if (files !== null && files !== undefined && files.length > 1) setFault(t('import.oneFile'))
    else if (chosenList.get()?.sent !== undefined) setFault(t('import.oneAtATime'))
    else {
      setFault(undefined)
      chooseList(file)
    }
  }
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault()
    const drop = (event: DragEvent) => {
      event.preventDefault()
      take(event.dataTransfer?.files)
    }
    const left = new AbortController()
    const { signal } = left
    addEventListener('dragover', over, { signal })
    addEventListener('drop', drop, { signal })
    return () => left.abort()
  }, [])
  const attempt = (work: () => Promise<void>) => {
    setFault(undefined)
    work().catch((error: unknown) => {
      // Stopped by the user.
      if (chosenList.get() === undefined) return
      changeChoice({ sent: undefined })
      setFault(errorMessage(error))
    })
  }
  return (
    <Page isWide title={t('nav.import')} explained={t('import.how')}>
      <div role="alert">{fault !== undefined && <p className="callout danger said-fault">{fault}</p>}</div>
      {list === undefined ? (
        <div className="drop-place">
          <Icon name="upload" />
          <p>{t('import.drop')}</p>
          <p className="muted">{t('import.kinds')}</p>
          <Button look="primary" label={t('import.pick')} onClick={() => picker.current?.click()} />
        </div>
      ) : (
        <ListForm list={list} onSend={attempt} />
      )}
      <PastImports />
      <input
        ref={picker}
        hidden
        type="file"
        accept=".csv,.txt,.tsv,.ndjson,.gz,.zst,text/csv,text/plain"
        onChange={(event) => {
          take(event.target.files)
          // Allows choosing the same file again.
          event.target.value = ''
        }}
      />
    </Page>
  )
}

const WINDOWS: Readonly<Record<Window, TextKey>> = {
  hour: 'import.hour',
  day: 'import.day',
  week: 'import.week',
  month: 'import.month',
}

const isKeyOf = <K extends string>(table: Readonly<Record<K, unknown>>, text: string): text is K =>
  Object.hasOwn(table, text)
const formats = ['', ...Object.keys(FORMATS)]
const windows = Object.keys(WINDOWS)

/** Says a source in words if it is a format, or the default source of a format and a window. */
function sourceText(source: string): string {
  const [format = '', window, ...others] = source.split('/')
  if (!isKeyOf(FORMATS, format) || others.length > 0) return source
  if (window === undefined) return t(FORMATS[format])
  return isKeyOf(WINDOWS, window) ? `${t(FORMATS[format])} · ${t(WINDOWS[window])}` : source
}

interface Props {
  readonly list: ChosenList
  readonly onSend: (work: () => Promise<void>) => void
}

/** How to read the chosen list, what importing it would change, and the buttons that send it. */
function ListForm({ list, onSend }: Props) {
  const { file, format, window, source, previewId, sent } = list
  const preview = useImports().data?.find(({ id }) => id === previewId)
  const isSending = sent !== undefined
  const isSeen = preview?.state === 'done'
  // Another choice would change something else.
  const choose = (changes: Partial<ChosenList>) => changeChoice({ ...changes, previewId: undefined })
  return (
    <section className="stack wide-gap" aria-label={file.name}>
      <p>
        <strong>{file.name}</strong> <span className="muted figures">{bytes(file.size)}</span>
      </p>
      <fieldset className="import-fields row" disabled={isSending}>
        <SelectField
          label={t('import.format')}
          value={format ?? ''}
          options={formats}
          textOf={(one) => t(isKeyOf(FORMATS, one) ? FORMATS[one] : 'import.anyFormat')}
          onChange={(one) => choose({ format: isKeyOf(FORMATS, one) ? one : undefined })}
        />
        {(format === undefined || format === 'deletions') && (
          <SelectField
            label={t('import.window')}
            hint={t('import.windowHint')}
            value={window}
            options={windows}
            textOf={(one) => t(isKeyOf(WINDOWS, one) ? WINDOWS[one] : 'import.month')}
            onChange={(one) => isKeyOf(WINDOWS, one) && choose({ window: one })}
          />
        )}
        <TextField
          label={t('import.source')}
          hint={t('import.sourceHint')}
          placeholder={format === undefined ? '' : sourceText(`${format}/${window}`)}
          maxLength={100}
          value={source}
          onChange={(text) => choose({ source: text })}
        />
      </fieldset>
      {isSending && (
        <div className="stack tight" role="status">
          <progress max={1} value={sent} aria-label={t('import.sending', { name: file.name })} />
          <p className="muted figures">
            {sent === 1 ? t('import.checking') : t('import.sent', { n: count(Math.floor(sent * 100)) })}
          </p>
        </div>
      )}
      {preview !== undefined && (
        <section className="stack" aria-label={t('import.preview')} aria-busy={isOpen(preview)}>
          <h2>{t('import.preview')}</h2>
          <Outcome job={preview} />
        </section>
      )}
      <div className="row">
        <Button
          look={isSeen ? undefined : 'primary'}
          label={t('import.look')}
          disabled={isSending}
          onClick={() => onSend(() => sendList(true))}
        />
        <Button
          look={isSeen ? 'primary' : undefined}
          label={t('nav.import')}
          disabled={isSending}
          onClick={() => onSend(() => sendList(false))}
        />
        <Button label={t(isSending ? 'import.stop' : 'app.cancel')} onClick={dropChoice} />
      </div>
    </section>
  )
}

const ASK_MS = 1_000

/** The imports of the account, newest first, refreshed while one runs. */
const useImports = () =>
  useQuery({
    queryKey: ['imports'],
    queryFn: ({ signal }) => IMPORTS.list(signal),
    refetchInterval: ({ state }) => (state.data?.some(isOpen) === true ? ASK_MS : false),
  })

/** The imports of the last month, each with what it did; those that only counted are left out. */
function PastImports() {
  const query = useImports()
  const all = (query.data ?? []).filter(({ dry_run: isDry }) => isDry === 0)
  return (
    <>
      <QueryError of={query} />
      {all.length > 0 && (
        <section className="stack past-imports">
          <h2 id="past-imports">{t('import.past')}</h2>
          <WideTable
            labelledBy="past-imports"
            heads={[t('import.file'), t('app.when'), t('import.outcome'), t('domains.state')]}
          >
            {all.map((job) => (
              <tr key={job.id}>
                <th scope="row">
                  {job.name ?? t('import.list')}
                  <div className="muted">{sourceText(job.source ?? job.format ?? '')}</div>
                </th>
                <td>{dateTime(job.created_at)}</td>
                <td>
                  <Outcome job={job} />
                </td>
                <td>
                  <State job={job} />
                </td>
              </tr>
            ))}
          </WideTable>
        </section>
      )}
    </>
  )
}

function State({ job }: { job: ImportJob }) {
  const { id, state } = job
  if (!isOpen(job)) {
    const look = state === 'done' ? 'free' : 'danger'
    return (
      <Tag icon={state === 'done' ? 'check' : 'alert'} look={look} label={t(`import.state.${getEnd(job)}`)} />
    )
  }
  const stop = () => void IMPORTS.stop(id).catch(showError)
  return (
    <div className="row">
      <Tag icon="clock" label={t('import.state.running')} />
      <Button label={t('import.stop')} onClick={stop} />
    </div>
  )
}

const getEnd = ({ state }: ImportJob) =>
  state === 'done' ? 'done' : state === 'failed' ? 'failed' : 'stopped'

const SUMS = [
  ['new', 'import.new'],
  ['changed', 'import.changed'],
  ['unchanged', 'import.same'],
] as const satisfies readonly (readonly [keyof ImportJob, TextKey])[]

/** What an import changed so far, or would change, and why not more. */
export function Outcome({ job }: { job: ImportJob }) {
  const { state, waiting, error, refused, errors, skipped, complete, seconds_left: left, percent } = job
  return (
    <div className="stack tight">
      <ul className="row" aria-live="polite">
        {SUMS.map(([field, label]) => (
          <li key={field} className={`effect ${field} figures`}>
            {t(label)}: <strong>{count(job[field])}</strong>
          </li>
        ))}
        {refused > 0 && <li className="tag danger">{tn('import.bad', refused)}</li>}
      </ul>
      {isOpen(job) && (
        <>
          <progress max={100} value={percent} aria-label={job.name ?? t('import.list')} />
          <p className="muted figures">
            {waiting === 1
              ? t('import.waits')
              : left === null
                ? t('import.goesOn')
                : t('import.left', { time: duration(left) })}
          </p>
        </>
      )}
      {state === 'stopped' && <p className="muted">{t('import.kept')}</p>}
      {error !== null && <p className="fault-text">{error}</p>}
      {skipped !== null && <p className="muted">{t(`import.skipped.${skipped}`)}</p>}
      {complete === 0 && <p className="muted">{t('import.incomplete')}</p>}
      {errors.length > 0 && (
        <details>
          <summary>{t('import.refused')}</summary>
          <ul className="bad-lines stack tight">
            {errors.map(({ line, msg }) => (
              <li key={line}>
                <span className="muted figures">{t('import.line', { n: line })}</span>{' '}
                <span className="fault-text">
                  {language.get() === 'es' ? msg : t('fault.said', { text: msg })}
                </span>
              </li>
            ))}
          </ul>
          {errors.length < refused && (
            <p className="muted figures">{t('domains.andMore', { n: refused - errors.length })}</p>
          )}
        </details>
      )}
    </div>
  )
}
