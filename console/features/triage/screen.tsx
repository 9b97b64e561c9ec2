import { useEffect, useMemo, useRef, type MouseEvent } from 'react'
import { navigate, useRoute } from '../../base/router.ts'
import { letterShortcuts, once, useShortcuts } from '../../base/shortcuts.ts'
import { useStore } from '../../base/store.ts'
import { Button, Link, Icon } from '../../design/elements.tsx'
import { ErrorNotice, Notice, Loading } from '../../design/notice.tsx'
import { useDnsLookup, useSimilar } from '../domains/record-facts.tsx'
import { useLiveUpdates } from '../domains/live-updates.ts'
import { useFilters } from '../filters/filter-counts.tsx'
import { formatWords, queryOf, withFilters, type Filters } from '../filters/filters.ts'
import { Card, useRecordHistory, Swipe } from './card.tsx'
import { toView, lostClaimText, queueQuery } from './claims.ts'
import { TriageQueue } from './triage-queue.ts'
import { language, t, tn } from '../../i18n/index.ts'
import { useAccounts } from '../../api/scope.ts'
import { useApi } from '../../api/query-client.ts'
import type { Mark } from '../domains/optimistic-updates.ts'
import '../../i18n/texts/triage.ts'
import './triage.css'

/**
 * Shows one name at a time, claimed so that no colleague decides on it, too. The view is in the URL, as in the
 * table.
 */
export default function TriageScreen() {
  const { query } = useRoute()
  const chosen = useFilters(query)
  const filters = useMemo(() => toView(chosen), [chosen])
  const pile = useMemo(() => new TriageQueue(filters), [filters])
  useEffect(() => pile.start(), [pile])
  const state = useStore(pile.state)
  const spoken = useStore(language)
  // Follows decisions of colleagues.
  useLiveUpdates(filters)
  const main = useRef<HTMLDivElement>(null)
  const note = useRef<HTMLTextAreaElement>(null)
  const { current, next, left, handled, canGoBack, lost, isEnd, error } = state
  usePrefetch(next[0]?.name)
  usePrefetch(next[1]?.name)
  const toKeys = () => main.current?.focus({ preventScroll: true })
  // Removes the focus from the menu link, so that shortcuts apply to the name.
  useEffect(toKeys, [])

  useShortcuts('triage', {
    r: once(() => pile.decide('revision')),
    d: once(() => pile.decide('discarded')),
    ' ': (event) => {
      if (!letterShortcuts.get() || !isForCard(event.target)) return
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
  const isByInterest = filters['order'] === 'interest'
  const interestToggle = { order: isByInterest ? undefined : 'interest', sort: undefined }
  return (
    <div ref={main} className="triage" tabIndex={-1}>
      <h1 className="visually-hidden">{t('nav.triage')}</h1>
      <div className="row">
        <Link to="dominios" query={queryOf(filters)} className="triage-view">
          <span className="mono">{words}</span>
        </Link>
        <span className="grow" />
        <button
          type="button"
          className="chip"
          aria-pressed={isByInterest}
          title={t('triage.byInterestHelp')}
          onClick={() => navigate('triaje', queryOf(withFilters(filters, interestToggle)))}
        >
          {t('domains.interest')}
        </button>
        <Colleagues filters={filters} />
        <ProgressRing done={handled} left={left} />
      </div>
      {current !== undefined && (
        <Swipe onLeft={() => pile.decide('discarded')} onRight={() => pile.decide('revision')}>
          {lost !== undefined && (
            <p className="callout unknown" role="alert">
              {lostClaimText(lost)}{' '}
              <Button look="quiet" label={t('sheet.next')} onClick={() => pile.next()} />
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
        <ErrorNotice error={error} onRetry={() => pile.retry()} />
      )}
      {current === undefined && error === undefined && !isEnd && <Loading />}
      {current === undefined && error === undefined && isEnd && (
        <Notice icon="check" title={t('triage.done')} text={t('triage.doneText')}>
          <Button label={t('triage.more')} onClick={() => pile.retry()} />
        </Notice>
      )}
      {(current !== undefined || canGoBack) && (
        <DecisionButtons
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
  useDnsLookup(name ?? '', name !== undefined)
  useSimilar(name ?? '', name !== undefined)
  useRecordHistory(name ?? '', name !== undefined)
}

/** Whether the space key applies to the name: not on a focused control outside the card. */
function isForCard(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || target.closest('.triage-keys') !== null) return true
  return target.closest('button, input, summary, [role=button]') === null
}

const CIRCLE = 2 * Math.PI * 20

/** The progress, and the number of names left once counted. */
function ProgressRing({ done, left }: { done: number; left: number | undefined }) {
  const part = left === undefined || done + left === 0 ? 0 : done / (done + left)
  return (
    <div className="triage-arc row">
      <svg viewBox="0 0 48 48" aria-hidden="true">
        <circle cx="24" cy="24" r="20" />
        <circle cx="24" cy="24" r="20" className="done" strokeDasharray={`${CIRCLE * part} ${CIRCLE}`} />
      </svg>
      <span className="figures muted">{left === undefined ? '…' : tn('triage.left', left)}</span>
    </div>
  )
}

const ASK_EVERY_MS = 15_000
/** Claims are at the top of a view, so only its first records are read. */
const LOOKED_AT = 400

/** Other accounts that work on this view, with the number of names that each holds. */
function Colleagues({ filters }: { filters: Filters }) {
  const own = useAccounts()('domainwatch')
  const open = { seen: '0', revision: '0', discarded: '0', ...queueQuery(filters) }
  const { data } = useApi(['claims', filters], 'GET /api/v1/domainwatch/list', {
    query: { ...open, limit: LOOKED_AT, fields: 'claimed_by' },
    refetchInterval: ASK_EVERY_MS,
    select: ({ data }) => data[0],
  })
  const counts = new Map<string, number>()
  for (const { claimed_by: account } of data ?? []) {
    if (typeof account === 'string' && account !== own) counts.set(account, (counts.get(account) ?? 0) + 1)
  }
  if (counts.size === 0) return null
  return (
    <ul className="colleagues row" aria-label={t('triage.colleagues')}>
      {[...counts].map(([account, n]) => (
        <li key={account} className="tag">
          <Icon name="person" />
          {t('triage.holds', { account, n })}
        </li>
      ))}
    </ul>
  )
}

interface Props {
  readonly isReady: boolean
  readonly canGoBack: boolean
  readonly onDecide: (mark: Mark | undefined) => void
  readonly onBack: () => void
  /** Restores the focus, so that shortcuts keep working. */
  readonly toKeys: () => void
}

/** The decisions as large buttons of one size, each with its key. */
function DecisionButtons({ isReady, canGoBack, onDecide, onBack, toKeys }: Props) {
  const press = (act: () => void) => (event: MouseEvent) => {
    act()
    if (event.detail > 0) toKeys()
  }
  return (
    <div
      className="triage-keys"
      onKeyDown={(event) => {
        // Key repeats are ignored.
        if (event.repeat && event.key === 'Enter') event.preventDefault()
      }}
      onKeyUp={(event) => {
        // Some browsers click a button on keyup of the space key.
        if (event.key === ' ' && letterShortcuts.get()) event.preventDefault()
      }}
    >
      <Button icon="trash" aria-disabled={!isReady} onClick={press(() => onDecide('discarded'))}>
        {t('domains.discard')} <kbd aria-hidden="true">d</kbd>
      </Button>
      <Button icon="undo" aria-disabled={!canGoBack} onClick={press(onBack)}>
        {t('app.undo')} <kbd aria-hidden="true">z</kbd>
      </Button>
      <Button icon="check" aria-disabled={!isReady} onClick={press(() => onDecide(undefined))}>
        {t('domains.isSeen')} <kbd aria-hidden="true">{t('triage.space')}</kbd>
      </Button>
      <Button
        icon="flag"
        className="review-button"
        aria-disabled={!isReady}
        onClick={press(() => onDecide('revision'))}
      >
        {t('domains.review')} <kbd aria-hidden="true">r</kbd>
      </Button>
    </div>
  )
}
