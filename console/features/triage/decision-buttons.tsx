import type { MouseEvent } from 'react'
import { letterShortcuts } from '../../base/shortcuts.ts'
import { Icon } from '../../design/icon.tsx'
import type { Mark } from '../domains/optimistic-updates.ts'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/triage.ts'

interface Props {
  readonly isReady: boolean
  readonly canGoBack: boolean
  readonly onDecide: (mark: Mark | undefined) => void
  readonly onBack: () => void
  /** Restores the focus, so that shortcuts keep working. */
  readonly toKeys: () => void
}

/** The decisions as large buttons of one size, each with its key. */
export function DecisionButtons({ isReady, canGoBack, onDecide, onBack, toKeys }: Props) {
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
      <button
        type="button"
        className="button"
        aria-disabled={!isReady}
        onClick={press(() => onDecide('discarded'))}
      >
        <Icon name="trash" />
        {t('domains.discard')} <kbd aria-hidden="true">d</kbd>
      </button>
      <button type="button" className="button" aria-disabled={!canGoBack} onClick={press(onBack)}>
        <Icon name="undo" />
        {t('app.undo')} <kbd aria-hidden="true">z</kbd>
      </button>
      <button
        type="button"
        className="button"
        aria-disabled={!isReady}
        onClick={press(() => onDecide(undefined))}
      >
        <Icon name="check" />
        {t('domains.isSeen')} <kbd aria-hidden="true">{t('triage.space')}</kbd>
      </button>
      <button
        type="button"
        className="button review-button"
        aria-disabled={!isReady}
        onClick={press(() => onDecide('revision'))}
      >
        <Icon name="flag" />
        {t('domains.review')} <kbd aria-hidden="true">r</kbd>
      </button>
    </div>
  )
}
