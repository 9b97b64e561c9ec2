import { useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { IconButton, Icon } from '../design/elements.tsx'
import { ErrorBoundary, lazyComponent } from '../design/chunk.tsx'
import { Loading } from '../design/notice.tsx'
import { t } from '../i18n/index.ts'
import './palette.css'

const load = () => import('./palette-results.tsx')
const Results = lazyComponent(load, <Loading />)

/** Fetches the list ahead, so that the palette opens without waiting. A failure shows when it is opened. */
export const fetchPalette = (): void => void load().catch(() => undefined)

/** Commands from the field to the list. */
export interface ListControl {
  move(by: 1 | -1 | 'first' | 'last'): void
  run(): void
}

const MOVES: Readonly<Record<string, Parameters<ListControl['move']>[0]>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageUp: 'first',
  PageDown: 'last',
}
const MAX_TEXT = 200

/**
 * The command palette: a combobox in a modal dialog. The field works immediately, while the list is still being
 * fetched.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const box = useRef<HTMLDialogElement>(null)
  const control = useRef<ListControl>(undefined)
  const [text, setText] = useState('')
  const [active, setActive] = useState<string>()
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])

  function press(event: KeyboardEvent) {
    const by = MOVES[event.key]
    if (by !== undefined) control.current?.move(by)
    else if (event.key === 'Enter' && !event.nativeEvent.isComposing) control.current?.run()
    else if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) onClose()
    else return
    event.preventDefault()
  }

  return (
    <dialog
      ref={box}
      className="box palette floating"
      closedby="any"
      aria-label={t('palette.title')}
      // `close` is sent later: Ctrl K could come before it, and would open nothing.
      onCancel={onClose}
      onClose={onClose}
    >
      <div className="palette-field">
        <Icon name="search" />
        <input
          className="input"
          role="combobox"
          aria-label={t('palette.title')}
          aria-expanded={active !== undefined}
          aria-controls={active === undefined ? undefined : 'palette-list'}
          aria-activedescendant={active}
          aria-autocomplete="list"
          placeholder={t('palette.placeholder')}
          maxLength={MAX_TEXT}
          autoFocus
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={press}
        />
        <IconButton icon="close" label={t('app.close')} onClick={onClose} />
      </div>
      <ErrorBoundary>
        <Results
          text={text}
          control={control}
          onActive={setActive}
          onPick={(act) => {
            // Closing restores the focus first, so that the action can move it.
            box.current?.close()
            onClose()
            act()
          }}
        />
      </ErrorBoundary>
    </dialog>
  )
}
