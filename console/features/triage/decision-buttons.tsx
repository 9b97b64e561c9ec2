import type { MouseEvent } from 'react'
import { letterShortcuts } from '../../base/shortcuts.ts'
import type { Mark } from '../domains/optimistic-updates.ts'
import { t } from '../../i18n/index.ts'
import { Button } from '../../design/button.tsx'
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
