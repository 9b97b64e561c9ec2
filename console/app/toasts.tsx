import { Icon } from '../design/icon.tsx'
import { t } from '../i18n/index.ts'
import { faultText } from './fault-text.ts'
import { createStore, useStore } from './store.ts'

export interface Toast {
  readonly id: number
  readonly text: string
  readonly isFault: boolean
  readonly undo: (() => void) | undefined
}

/** Long enough to read a sentence and to reach the button. */
const SHOWN_MS = 9_000
const MAX_SHOWN = 3

const toasts = createStore<readonly Toast[]>([])
let lastId = 0

/** Tells what happened, to the eye and to a screen reader. */
export function say(
  text: string,
  options: { readonly isFault?: boolean; readonly undo?: () => void } = {},
): void {
  const id = ++lastId
  const toast = { id, text, isFault: options.isFault ?? false, undo: options.undo }
  toasts.set([...toasts.get(), toast].slice(-MAX_SHOWN))
  setTimeout(() => dismiss(id), SHOWN_MS)
}

export const sayFault = (error: unknown): void => say(faultText(error), { isFault: true })

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id))
}

export function Toasts() {
  return (
    <div className="toasts" role="status" aria-live="polite">
      {useStore(toasts).map(({ id, text, isFault, undo }) => (
        <div key={id} className={isFault ? 'toast fault' : 'toast'}>
          <Icon name={isFault ? 'alert' : 'check'} />
          <span className="grow">{text}</span>
          {undo !== undefined && (
            <button
              type="button"
              className="button quiet"
              onClick={() => {
                dismiss(id)
                undo()
              }}
            >
              {t('app.undo')}
            </button>
          )}
          <button
            type="button"
            className="button quiet icon"
            aria-label={t('app.close')}
            onClick={() => dismiss(id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
