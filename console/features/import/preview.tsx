import { useQuery } from '@tanstack/react-query'
import { recordErrorMessage } from '../../api/error-message.ts'
import { queryClient } from '../../api/query-client.ts'
import { useStore } from '../../base/store.ts'
import { Button } from '../../design/button.tsx'
import { Link } from '../../design/link.tsx'
import { ErrorNotice } from '../../design/notice.tsx'
import { DomainName } from '../domains/domain-name.tsx'
import type { DayOrder } from './dates.ts'
import { DetectedFormatNote } from './detected-format.tsx'
import {
  closeImport,
  type Import,
  importsElsewhere,
  resumePoint,
  runsElsewhere,
  stopImport,
  storeImport,
} from './job.ts'
import type { BadLine, ReadList, Row } from './read-list.ts'
import { RunsElsewhere } from './resume-import.tsx'
import { type Effect, previewList, type Progress } from './store-list.ts'
import { count, count as formatted, t, type TextKey, tn } from '../../i18n/index.ts'

const SHOWN = 100

const EFFECTS: Readonly<Record<Effect, TextKey>> = {
  new: 'import.new',
  changed: 'import.changed',
  same: 'import.same',
}

/** The effect of storing the list, then the progress. */
export function Preview({ loaded, onOrder }: { loaded: Import; onOrder: (order: DayOrder) => void }) {
  const { id, file, list, state, progress } = loaded
  const queryKey = ['import', id]
  const isElsewhere = useStore(importsElsewhere) && runsElsewhere(file)
  const {
    data: foreseen,
    error,
    isPending,
    refetch,
  } = useQuery({
    queryKey,
    // Compared with the records before the import.
    enabled: state === 'read',
    staleTime: Infinity,
    queryFn: async ({ signal }) => (await previewList(list, signal)) ?? null,
  })
  const bad = [...list.bad, ...progress.refused]
  const badCount = list.badCount + progress.refusedCount
  const isComparing = isPending && state === 'read' && error === null
  const begin = (from?: Progress) => {
    void queryClient.cancelQueries({ queryKey })
    void storeImport(from)
  }
  return (
    <div className="stack wide-gap">
      <div className="stack">
        <p>
          <strong>{file.name}</strong>{' '}
          <span className="muted figures">
            {t(list.kind === 'registrations' ? 'import.registrations' : 'import.deletions')} ·{' '}
            {tn('domains.rows', list.rows.length)}
          </span>
        </p>
        <DetectedFormatNote list={list} onOrder={state === 'read' ? onOrder : undefined} />
      </div>
      {error !== null && state === 'read' && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <ul className="row" aria-busy={isComparing} aria-live="polite">
        {isComparing && <li className="muted">{t('import.comparing')}</li>}
        {foreseen === null && <li className="muted">{t('import.tooMany')}</li>}
        {foreseen !== undefined &&
          foreseen !== null &&
          (['new', 'changed', 'same'] as const).map((effect) => (
            <li key={effect} className={`effect ${effect} figures`}>
              <strong>{count(foreseen.sums[effect])}</strong> {t(EFFECTS[effect])}
            </li>
          ))}
        {badCount > 0 && <li className="tag danger">{tn('import.bad', badCount)}</li>}
      </ul>
      {foreseen?.isExact === false && <p className="muted">{t('import.ofDays')}</p>}
      {state !== 'read' && <Advance loaded={loaded} />}
      {state === 'read' && isElsewhere && <RunsElsewhere file={file} />}
      <Buttons loaded={loaded} isElsewhere={isElsewhere} onBegin={begin} />
      {bad.length > 0 && <BadLines lines={bad} count={badCount} />}
      {foreseen !== undefined && foreseen !== null && state !== 'done' && (
        <Rows list={list} effects={foreseen.effects} />
      )}
    </div>
  )
}

function Advance({ loaded: { list, state, progress, fault } }: { loaded: Import }) {
  return (
    <div className="stack" role="status">
      <progress max={list.rows.length} value={progress.done} aria-label={t('nav.import')} />
      <p className="figures">
        {t('import.stored', { n: count(progress.stored), all: count(list.rows.length) })}
      </p>
      {state === 'waiting' && <p className="muted">{t('import.waiting')}</p>}
      {state === 'running' && <p className="muted">{t('import.goesOn')}</p>}
      {fault !== undefined && <p className="fault-text">{t('import.broken', { reason: fault })}</p>}
      {state === 'stopped' && <p className="muted">{t('import.canGoOn')}</p>}
    </div>
  )
}

interface ButtonsProps {
  readonly loaded: Import
  /** Undefined until other tabs have answered. */
  readonly isElsewhere: boolean | undefined
  readonly onBegin: (from?: Progress) => void
}

function Buttons({ loaded, isElsewhere, onBegin }: ButtonsProps) {
  const { list, state } = loaded
  const canBegin = state === 'read' && isElsewhere === false
  const left = canBegin ? resumePoint(loaded) : undefined
  const isStoring = state === 'running' || state === 'waiting'
  const storing = list.badCount === 0 ? t('import.store') : tn('import.storeGood', list.rows.length)
  return (
    <div className="row">
      {left !== undefined && (
        <Button
          look="primary"
          label={t('import.goOnFrom', { n: count(left.done + 1) })}
          onClick={() => onBegin(left)}
        />
      )}
      {canBegin && (
        <button
          type="button"
          className={left !== undefined ? 'button' : 'button primary'}
          disabled={list.rows.length === 0}
          onClick={() => onBegin()}
        >
          {left !== undefined ? t('import.fromStart') : storing}
        </button>
      )}
      {state === 'stopped' && <Button look="primary" label={t('import.goOn')} onClick={() => onBegin()} />}
      {state === 'done' && (
        <Link to="dominios" className="button primary">
          {t('nav.domains')}
        </Link>
      )}
      {isStoring ? (
        <Button label={t('import.stop')} onClick={stopImport} />
      ) : (
        <Button label={t(state === 'done' ? 'import.another' : 'app.cancel')} onClick={closeImport} />
      )}
    </div>
  )
}

function Rows({ list, effects }: { list: ReadList; effects: ReadonlyMap<string, Effect> }) {
  const changing: Row[] = []
  for (const row of list.rows) {
    if (changing.length === SHOWN) break
    if (effects.get(row.domain) !== 'same') changing.push(row)
  }
  return (
    <table className="plain">
      <caption className="visually-hidden">{t('import.preview')}</caption>
      <tbody>
        {changing.map(({ line, domain, date }) => (
          <tr key={line}>
            <th scope="row">
              <DomainName name={domain} />
            </th>
            <td className="mono muted">{date}</td>
            <td className={`effect ${effects.get(domain) ?? ''}`}>
              {t(`import.one.${effects.get(domain) ?? 'same'}`)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Lines that are not stored, each with its number in the file and the reason. */
function BadLines({ lines, count }: { lines: readonly BadLine[]; count: number }) {
  const shown = lines.slice(0, SHOWN)
  return (
    <section className="stack" aria-label={t('import.refused')}>
      <h2>{t('import.refused')}</h2>
      <ul className="bad-lines stack tight">
        {shown.map(({ line, text, reason }) => (
          <li key={line}>
            <span className="muted figures">{t('import.line', { n: line })}</span>{' '}
            <code>{text.slice(0, 120)}</code>{' '}
            <span className="fault-text">
              {typeof reason === 'string'
                ? t(reason)
                : recordErrorMessage({ field: reason.field ?? '', msg: reason.said })}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < count && (
        <p className="muted figures">{t('import.badMore', { n: formatted(count - shown.length) })}</p>
      )}
    </section>
  )
}
