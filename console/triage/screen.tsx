import { useEffect, useMemo, useRef } from 'react'
import { usePlace } from '../app/router.ts'
import { letters, useKeys } from '../app/shortcuts.ts'
import { useStore } from '../app/store.ts'
import { Loading } from '../design/answer.tsx'
import { Fault, Link, Notice } from '../design/parts.tsx'
import { useDns } from '../domains/dns-now.tsx'
import { formatWords, queryOf } from '../domains/filters.ts'
import { useLive } from '../domains/live.ts'
import { useSimilar } from '../domains/lookalikes.tsx'
import { useFilters } from '../domains/use-filters.ts'
import { language, t } from '../i18n/index.ts'
import { Arc } from './arc.tsx'
import { Card, usePast } from './card.tsx'
import { viewOf } from './claims.ts'
import { Colleagues } from './colleagues.tsx'
import { Decisions } from './decisions.tsx'
import { lostText } from './lost.ts'
import { Pile } from './pile.ts'
import { Swipe } from './swipe.tsx'
import '../i18n/texts/triage.ts'
import './triage.css'

/**
 * Shows one name at a time, claimed so that no colleague decides on it, too. The view is in the URL, as in the
 * table.
 */
export default function TriageScreen() {
  const { query } = usePlace()
  const chosen = useFilters(query)
  const filters = useMemo(() => viewOf(chosen), [chosen])
  const pile = useMemo(() => new Pile(filters), [filters])
  useEffect(() => pile.start(), [pile])
  const state = useStore(pile.state)
  const spoken = useStore(language)
  // Follows decisions of colleagues.
  useLive(filters)
  const main = useRef<HTMLDivElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  const { current, next, left, handled, canGoBack, lost, isReading, error } = state
  usePrefetch(next[0]?.name)
  usePrefetch(next[1]?.name)
  const toKeys = () => main.current?.focus({ preventScroll: true })
  // Removes the focus from the menu link, so that shortcuts apply to the name.
  useEffect(toKeys, [])

  useKeys({
    r: once(() => pile.decide('revision')),
    d: once(() => pile.decide('discarded')),
    ' ': (event) => {
      if (!isForCard(event.target)) return
      event.preventDefault()
      if (!event.repeat) pile.decide(undefined)
    },
    z: once(() => pile.back()),
    Backspace: once(() => pile.back()),
    n: (event) => {
      // Prevents the letter from being typed into the field.
      event.preventDefault()
      note.current?.focus()
    },
  })

  const words = formatWords(filters, spoken)
  return (
    <div ref={main} className="triage" tabIndex={-1}>
      <h1 className="visually-hidden">{t('nav.triage')}</h1>
      <div className="triage-head">
        <Link to="dominios" query={queryOf(filters)} className="triage-view">
          <span className="mono">{words}</span>
        </Link>
        <span className="grow" />
        <Colleagues filters={filters} />
        <Arc done={handled} left={left} />
      </div>
      {current !== undefined && (
        <Swipe onLeft={() => pile.decide('discarded')} onRight={() => pile.decide('revision')}>
          {lost !== undefined && (
            <p className="callout unknown" role="alert">
              {lostText(lost)}{' '}
              <button type="button" className="button quiet" onClick={() => pile.next()}>
                {t('triage.nextName')}
              </button>
            </p>
          )}
          <Card
            key={current.name}
            record={current}
            note={note}
            onNoted={() => {
              toKeys()
              pile.extendSoon()
            }}
          />
        </Swipe>
      )}
      {error !== undefined && (current === undefined || next.length === 0) && (
        <Fault error={error} onRetry={() => pile.retry()} />
      )}
      {current === undefined && error === undefined && isReading && <Loading />}
      {current === undefined && error === undefined && !isReading && (
        <Notice icon="check" title={t('triage.done')} text={t('triage.doneText')}>
          <button type="button" className="button" onClick={() => pile.retry()}>
            {t('triage.more')}
          </button>
        </Notice>
      )}
      {(current !== undefined || canGoBack) && (
        <Decisions
          isReady={current !== undefined}
          canGoBack={canGoBack}
          onDecide={(mark) => pile.decide(mark)}
          onBack={() => pile.back()}
          toKeys={toKeys}
        />
      )}
    </div>
  )
}

/** Prefetches the facts about the next names. */
function usePrefetch(name: string | undefined): void {
  useDns(name ?? '', name !== undefined)
  useSimilar(name ?? '', name !== undefined)
  usePast(name ?? '', name !== undefined)
}

/** Whether the space key applies to the name: not on a focused control outside the card. */
function isForCard(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || target.closest('.triage-keys') !== null) return letters.get()
  return target.closest('button, input, summary, [role=button]') === null
}

const once = (act: () => void) => (event: KeyboardEvent) => {
  if (!event.repeat) act()
}
