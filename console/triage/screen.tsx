import { useEffect, useMemo, useRef, type MouseEvent } from 'react'
import { usePlace } from '../app/router.ts'
import { letters, useKeys } from '../app/shortcuts.ts'
import { useStore } from '../app/store.ts'
import { Loading } from '../design/answer.tsx'
import { Icon } from '../design/icon.tsx'
import { Fault, Link, Notice } from '../design/parts.tsx'
import { useDns } from '../domains/dns-now.tsx'
import { formatWords, queryOf } from '../domains/filters.ts'
import { useLive } from '../domains/live.ts'
import { useFilters } from '../domains/use-filters.ts'
import { language, t, tn } from '../i18n/index.ts'
import { Arc } from './arc.tsx'
import { Card } from './card.tsx'
import { Pile } from './pile.ts'
import './triage.css'

/** One name at a time: the newest of a view that nobody has marked yet. The view is in the address, as in the table. */
export default function TriageScreen() {
  const { query } = usePlace()
  const filters = useFilters(query)
  const pile = useMemo(() => new Pile(filters), [filters])
  useEffect(() => pile.start(), [pile])
  const state = useStore(pile.state)
  const spoken = useStore(language)
  const live = useLive(filters)
  const main = useRef<HTMLDivElement>(null)
  const { current, next, left, handled, skipped, canGoBack, looked, isReading, error } = state
  // The story of the next one is there when its turn comes.
  useDns(next?.name ?? '', next !== undefined)
  // The menu's link that led here must not keep the focus: keys are for the name from now on.
  useEffect(() => main.current?.focus({ preventScroll: true }), [])

  useKeys({
    r: once(() => pile.mark('revision')),
    d: once(() => pile.mark('discarded')),
    ' ': (event) => {
      if (!isForCard(event.target)) return
      event.preventDefault()
      if (!event.repeat) pile.skip()
    },
    z: once(() => pile.back()),
    Backspace: once(() => pile.back()),
  })
  /** A button that was clicked gives the focus back, so that the keys go on working. */
  const press = (act: () => void) => (event: MouseEvent) => {
    act()
    if (event.detail > 0) main.current?.focus({ preventScroll: true })
  }

  const words = formatWords(filters, spoken)
  return (
    <div ref={main} className="triage" tabIndex={-1}>
      <h1 className="visually-hidden">{t('nav.triage')}</h1>
      <div className="triage-head">
        <Link to="dominios" query={queryOf(filters)} className="triage-view">
          {words === '' ? t('triage.all') : <span className="mono">{words}</span>}
        </Link>
        {live.waiting > 0 && (
          <button
            type="button"
            className="button quiet"
            onClick={press(() => {
              live.show()
              pile.restart()
            })}
          >
            <Icon name="up" />
            {tn('domains.changedRows', live.waiting)}
          </button>
        )}
        <span className="grow" />
        {skipped > 0 && <span className="muted figures">{tn('triage.skipped', skipped)}</span>}
        <Arc done={handled} left={left} />
      </div>
      {current !== undefined && <Card key={current.name} record={current} />}
      {current === undefined && error !== undefined && <Fault error={error} onRetry={() => pile.retry()} />}
      {current === undefined && error === undefined && isReading && (
        <div>
          <Loading />
          {looked > 0 && (
            <p className="muted figures" role="status">
              {t('triage.looking', { n: looked })}
            </p>
          )}
        </div>
      )}
      {current === undefined && error === undefined && !isReading && (
        <Notice icon="check" title={t('triage.done')} text={t('triage.doneText')}>
          <div className="row center">
            <button
              type="button"
              className="button"
              aria-disabled={!canGoBack}
              onClick={press(() => pile.back())}
            >
              <Icon name="undo" />
              {t('app.undo')}
            </button>
            {skipped > 0 && (
              <button type="button" className="button" onClick={press(() => pile.showSkipped())}>
                {tn('triage.showSkipped', skipped)}
              </button>
            )}
            <button type="button" className="button" onClick={press(() => pile.restart())}>
              {t('triage.more')}
            </button>
          </div>
        </Notice>
      )}
      {current !== undefined && (
        <div
          className="triage-keys"
          onKeyDown={(event) => {
            // A key that is held down is one gesture.
            if (event.repeat && event.key === 'Enter') event.preventDefault()
          }}
          onKeyUp={(event) => {
            // Some browsers press a button when the space key is let go.
            if (event.key === ' ' && letters.get()) event.preventDefault()
          }}
        >
          <button type="button" className="button review-button" onClick={press(() => pile.mark('revision'))}>
            <Icon name="flag" />
            {t('domains.review')} <kbd aria-hidden="true">r</kbd>
          </button>
          <button type="button" className="button" onClick={press(() => pile.skip())}>
            {t('triage.skip')} <kbd aria-hidden="true">{t('triage.space')}</kbd>
          </button>
          <button type="button" className="button" onClick={press(() => pile.mark('discarded'))}>
            <Icon name="trash" />
            {t('domains.discard')} <kbd aria-hidden="true">d</kbd>
          </button>
          <button
            type="button"
            className="button quiet"
            aria-disabled={!canGoBack}
            onClick={press(() => pile.back())}
          >
            <Icon name="undo" />
            {t('app.undo')} <kbd aria-hidden="true">z</kbd>
          </button>
        </div>
      )}
    </div>
  )
}

/** Whether the space key is for the name: not where it presses something that is no part of the card. */
function isForCard(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || target.closest('.triage-keys') !== null) return true
  return target.closest('button, input, summary, [role=button]') === null
}

const once = (act: () => void) => (event: KeyboardEvent) => {
  if (!event.repeat) act()
}
