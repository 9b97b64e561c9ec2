import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { sayFault } from '../app/toasts.tsx'
import { Icon } from '../design/icon.tsx'
import { Fault, Link } from '../design/parts.tsx'
import { count, t, tn, type TextKey } from '../i18n/index.ts'
import '../i18n/texts/importing.ts'
import { DomainName } from '../domains/name.tsx'
import { readList, type BadLine, type ReadList } from './read.ts'
import { foresee, storeList, type Effect, type Progress } from './run.ts'
import './import.css'

/** The registry's longest lists are a fifth of that. */
const MAX_BYTES = 100_000_000
const SHOWN = 100

interface Loaded {
  readonly name: string
  readonly list: ReadList
}

/** A list of the registry is dropped, looked through, and stored. */
export default function ImportScreen() {
  const [loaded, setLoaded] = useState<Loaded>()
  const picker = useRef<HTMLInputElement>(null)
  async function take(file: File | undefined) {
    if (file === undefined) return
    try {
      if (file.size > MAX_BYTES) throw new Error(t('import.tooLarge'))
      setLoaded({ name: file.name, list: readList(await textOf(file)) })
    } catch (error) {
      sayFault(error)
    }
  }
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault()
    const drop = (event: DragEvent) => {
      event.preventDefault()
      void take(event.dataTransfer?.files[0])
    }
    addEventListener('dragover', over)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('drop', drop)
    }
  }, [])
  return (
    <div className="page">
      <header>
        <h1>{t('nav.import')}</h1>
      </header>
      {loaded === undefined ? (
        <div className="drop-place">
          <Icon name="upload" />
          <p>{t('import.drop')}</p>
          <p className="muted">{t('import.kinds')}</p>
          <button type="button" className="button primary" onClick={() => picker.current?.click()}>
            {t('import.pick')}
          </button>
          <input
            ref={picker}
            hidden
            type="file"
            accept=".csv,.txt,.gz,text/csv,text/plain"
            onChange={(event) => void take(event.target.files?.[0])}
          />
        </div>
      ) : (
        <Preview key={loaded.name} loaded={loaded} onClose={() => setLoaded(undefined)} />
      )}
    </div>
  )
}

async function textOf(file: File): Promise<string> {
  if (!file.name.endsWith('.gz')) return file.text()
  return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).text()
}

const EFFECTS: Readonly<Record<Effect, TextKey>> = {
  new: 'import.new',
  changed: 'import.changed',
  same: 'import.same',
}

function Preview({ loaded: { name, list }, onClose }: { loaded: Loaded; onClose: () => void }) {
  const queries = useQueryClient()
  const {
    data: foreseen,
    error,
    isPending,
    refetch,
  } = useQuery({
    queryKey: ['import', name, list.rows.length],
    gcTime: 0,
    queryFn: async ({ signal }) => (await foresee(list, signal)) ?? null,
  })
  const effects = foreseen?.effects
  const [progress, setProgress] = useState<Progress>()
  const [isBusy, setBusy] = useState(false)
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])

  async function store() {
    const order = new AbortController()
    stop.current = order
    setBusy(true)
    try {
      setProgress(await storeList(list, setProgress, order.signal))
    } catch (fault) {
      if (!order.signal.aborted) sayFault(fault)
    }
    // What was stored before it ended is there.
    await queries.invalidateQueries({ queryKey: ['domains'] })
    setBusy(false)
  }

  const isDone = progress !== undefined && !isBusy && progress.done === list.rows.length
  const bad = [...list.bad, ...(progress?.refused ?? [])]
  return (
    <div className="stack wide-gap">
      <p>
        <strong>{name}</strong>{' '}
        <span className="muted figures">
          {t(list.kind === 'registrations' ? 'import.registrations' : 'import.deletions')} ·{' '}
          {tn('domains.rows', list.rows.length)}
        </span>
      </p>
      {error !== null && <Fault error={error} onRetry={() => void refetch()} />}
      <ul className="row" aria-busy={isPending} aria-live="polite">
        {isPending && error === null && <li className="muted">{t('import.comparing')}</li>}
        {foreseen === null && <li className="muted">{t('import.tooMany')}</li>}
        {effects !== undefined &&
          (['new', 'changed', 'same'] as const).map((effect) => (
            <Sum key={effect} effect={effect} effects={effects} />
          ))}
        {bad.length > 0 && <li className="tag danger">{tn('import.bad', bad.length)}</li>}
      </ul>
      {foreseen?.isExact === false && <p className="muted">{t('import.ofDays')}</p>}
      {progress !== undefined && (
        <div className="stack" role="status">
          <progress max={list.rows.length} value={progress.done} aria-label={t('nav.import')} />
          <p className="figures">
            {t('import.stored', { n: count(progress.stored), all: count(list.rows.length) })}
          </p>
        </div>
      )}
      <div className="row">
        {!isDone && (
          <button
            type="button"
            className="button primary"
            disabled={isBusy || list.rows.length === 0}
            onClick={() => void store()}
          >
            {t('import.store')}
          </button>
        )}
        {isDone && (
          <Link to="dominios" className="button primary">
            {t('nav.domains')}
          </Link>
        )}
        {isBusy ? (
          <button type="button" className="button" onClick={() => stop.current?.abort()}>
            {t('import.stop')}
          </button>
        ) : (
          <button type="button" className="button" onClick={onClose}>
            {t(isDone ? 'import.another' : 'app.cancel')}
          </button>
        )}
      </div>
      {bad.length > 0 && <BadLines lines={bad} />}
      {effects !== undefined && !isDone && <Rows list={list} effects={effects} />}
    </div>
  )
}

function Sum({ effect, effects }: { effect: Effect; effects: ReadonlyMap<string, Effect> }) {
  const n = [...effects.values()].filter((one) => one === effect).length
  return (
    <li className={`effect ${effect} figures`}>
      <strong>{count(n)}</strong> {t(EFFECTS[effect])}
    </li>
  )
}

function Rows({ list, effects }: { list: ReadList; effects: ReadonlyMap<string, Effect> }) {
  const changing = list.rows.filter(({ domain }) => effects.get(domain) !== 'same')
  return (
    <table className="plain">
      <caption className="visually-hidden">{t('import.preview')}</caption>
      <tbody>
        {changing.slice(0, SHOWN).map(({ line, domain, date }) => (
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

function BadLines({ lines }: { lines: readonly BadLine[] }) {
  return (
    <section className="stack">
      <h2>{t('import.refused')}</h2>
      <ul className="bad-lines">
        {lines.slice(0, SHOWN).map(({ line, text, message }) => (
          <li key={line}>
            <span className="muted figures">{t('import.line', { n: line })}</span>{' '}
            <code>{text.slice(0, 120)}</code>{' '}
            <span className="fault-text">{message ?? t('import.unreadable')}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}
