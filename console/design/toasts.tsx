import { Button, IconButton, onFirstClick, Icon } from './elements.tsx'
import { t } from '../i18n/index.ts'
import { errorMessage } from '../api/error-message.ts'
import { createStore, useStore } from '../base/store.ts'

export interface Toast {
  /** A toast replaces a visible one with the same key. */
  readonly key: string
  readonly text: string
  readonly kind: 'news' | 'pending' | 'fault'
  readonly undo: (() => void) | undefined
}

export interface ToastOptions {
  readonly key?: string
  readonly isError?: boolean
  /** In progress: shown until a toast with the same key replaces it. */
  readonly isPending?: boolean
  readonly undo?: () => void
}

/** Enough to read a sentence and reach the button. */
const SHOWN_MS = 9_000
/** Failures stay longer, and although others follow: they are shown nowhere else. */
const FAILURE_SHOWN_MS = 30_000
/** Enough to notice a failure and read what failed. */
const READ_MS = 2_000
const MAX_SHOWN = 3
const MAX_FAILURES = 6

interface Expiry {
  readonly timer: ReturnType<typeof setTimeout>
  readonly shownMs: number
  readonly startedAt: number
}

const toasts = createStore<readonly Toast[]>([])
const expiries = new Map<string, Expiry>()
let lastId = 0

/** Shows a message, also to screen readers. */
export function showToast(text: string, options: ToastOptions = {}): void {
  const { key = `toast-${++lastId}`, isError = false, isPending = false, undo } = options
  const toast: Toast = { key, text, kind: isError ? 'fault' : isPending ? 'pending' : 'news', undo }
  const shown = toasts.get()
  const isKnown = shown.some((one) => one.key === key)
  toasts.set(fitted(isKnown ? shown.map((one) => (one.key === key ? toast : one)) : [...shown, toast]))
  if (isPending) cancelExpiry(key)
  else expire(key, isError ? FAILURE_SHOWN_MS : SHOWN_MS)
}

/** Dismisses a toast after it was shown for this long. */
function expire(key: string, shownMs: number): void {
  clearTimeout(expiries.get(key)?.timer)
  const end = () => {
    // In a hidden tab nobody reads it: the time begins again when the tab is shown.
    if (document.hidden) return
    // What is pointed at stays.
    if (document.querySelector('.toasts:is(:hover, :focus-within)') !== null) expire(key, shownMs)
    else dismissToast(key)
  }
  expiries.set(key, { timer: setTimeout(end, shownMs), shownMs, startedAt: performance.now() })
}

function cancelExpiry(key: string): void {
  clearTimeout(expiries.get(key)?.timer)
  expiries.delete(key)
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) for (const [key, { shownMs }] of expiries) expire(key, shownMs)
})

export const showError = (error: unknown): void => showToast(errorMessage(error), { isError: true })

/** The newest toasts, failures first. */
function fitted(all: readonly Toast[]): readonly Toast[] {
  let surplus = all.length - MAX_SHOWN
  if (surplus <= 0) return all
  const kept = all.filter(({ kind }, i) => kind === 'fault' || i === all.length - 1 || surplus-- <= 0)
  return kept.slice(-MAX_FAILURES)
}

export function dismissToast(key: string): void {
  cancelExpiry(key)
  toasts.set(toasts.get().filter((toast) => toast.key !== key))
}

/** Dismisses the failures that the user could read before a gesture that succeeded. */
export function dismissOldFailures(gestureAt: number): void {
  for (const { key, kind } of toasts.get())
    if (kind === 'fault' && (expiries.get(key)?.startedAt ?? Infinity) + READ_MS <= gestureAt)
      dismissToast(key)
}

export function Toasts() {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ key, text, kind, undo }) => (
        <div key={key} className={kind === 'fault' ? 'toast floating fault' : 'toast floating'}>
          {kind === 'pending' ? (
            <span className="spinner" />
          ) : (
            <Icon name={kind === 'fault' ? 'alert' : 'check'} />
          )}
          <span className="grow">{text}</span>
          {undo !== undefined && (
            <Button
              look="quiet"
              label={t('app.undo')}
              onClick={onFirstClick(() => {
                dismissToast(key)
                undo()
              })}
            />
          )}
          <IconButton icon="close" label={t('app.close')} onClick={onFirstClick(() => dismissToast(key))} />
        </div>
      ))}
    </div>
  )
}
