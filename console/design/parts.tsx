import { useEffect, useRef, useState, type ReactNode, type MouseEvent } from 'react'
import { ConnectionLost } from '../api/client.ts'
import { faultText } from '../app/fault-text.ts'
import { go, hrefOf } from '../app/router.ts'
import { t } from '../i18n/index.ts'
import { Icon, type IconName } from './icon.tsx'

/** A link within the console. */
export function Link(props: {
  to: string
  query?: URLSearchParams
  className?: string
  current?: boolean
  children: ReactNode
}) {
  const { to, query, className, current, children } = props
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(to, query)
  }
  return (
    <a
      href={hrefOf(to, query)}
      className={className}
      aria-current={current === true ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  )
}

/** Replaces missing content: nothing yet, nothing found, an error. */
export function Notice(props: { icon: IconName; title: string; text?: string; children?: ReactNode }) {
  return (
    <div className="notice">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.text !== undefined && <p>{props.text}</p>}
      {props.children}
    </div>
  )
}

export function Fault({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isLost = error instanceof ConnectionLost
  return (
    <div role="alert">
      <Notice
        icon="alert"
        title={t(isLost ? 'app.lostTitle' : 'app.failed')}
        text={isLost ? t('app.lost') : faultText(error)}
      >
        <button type="button" className="button" onClick={onRetry}>
          {t('app.retry')}
        </button>
      </Notice>
    </div>
  )
}

interface DialogProps {
  readonly title: string
  readonly isWide?: boolean
  /** Only its buttons close it, because its content is shown only once. */
  readonly isFirm?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Modal: the browser traps the focus, closes on Escape and restores the focus. */
export function Dialog(props: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const { onClose } = props
  useEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={box}
      className={props.isWide === true ? 'box wide' : 'box'}
      aria-label={props.title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === box.current && props.isFirm !== true) onClose()
      }}
      onKeyDown={(event) => {
        // Not `cancel`: browsers close on a second Escape even if that event is prevented.
        if (props.isFirm === true && event.key === 'Escape') event.preventDefault()
      }}
    >
      <div className="stack">
        <div className="row">
          <h2 className="grow">{props.title}</h2>
          <button type="button" className="button quiet icon" aria-label={t('app.close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
        {props.children}
      </div>
    </dialog>
  )
}

const SHOWN_MS = 1_600

export function CopyButton(props: { text: string; label?: string; isPlain?: boolean }) {
  const [isDone, setDone] = useState(false)
  useEffect(() => {
    if (!isDone) return
    const timer = setTimeout(() => setDone(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isDone])
  const label = props.label ?? t('app.copy')
  return (
    <button
      type="button"
      className={props.isPlain === true ? 'button quiet' : 'button'}
      onClick={() => void copy(props.text).then(setDone)}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      <span aria-live="polite">{isDone ? t('app.copied') : label}</span>
    </button>
  )
}

/** Without https there is no clipboard for scripts, only the old command. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    document.body.append(area)
    area.select()
    const isDone = document.execCommand('copy')
    area.remove()
    return isDone
  }
}

/** A button with a menu that closes on Escape, on a choice and on a click elsewhere. */
export function Menu(props: {
  label: string
  icon: IconName
  /** Whether the label is shown next to the icon. */
  isNamed?: boolean
  /** The accessible name, if the label is not enough. It contains the label. */
  fullName?: string
  className?: string
  children: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const leave = (event: Event) => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false)
    }
    addEventListener('pointerdown', leave)
    addEventListener('focusin', leave)
    return () => {
      removeEventListener('pointerdown', leave)
      removeEventListener('focusin', leave)
    }
  }, [isOpen])
  return (
    <div
      ref={root}
      className="menu"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        event.preventDefault()
        setOpen(false)
        button.current?.focus()
      }}
    >
      <button
        ref={button}
        type="button"
        className={props.className ?? (props.isNamed === true ? 'button' : 'button quiet icon')}
        aria-label={props.fullName ?? (props.isNamed === true ? undefined : props.label)}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={props.icon} />
        {props.isNamed === true && <span className="menu-label">{props.label}</span>}
      </button>
      {isOpen && (
        <div
          className="menu-panel"
          onClick={(event) => {
            if (event.target instanceof Element && event.target.closest('[data-closes]') !== null)
              setOpen(false)
          }}
        >
          {props.children}
        </div>
      )}
    </div>
  )
}

/** The error, the cancel button and the submit button of a dialog. */
export function DialogFoot(props: {
  fault: string | undefined
  action: string
  isDisabled: boolean
  onCancel: () => void
}) {
  return (
    <>
      <p className="fault-text" role="alert">
        {props.fault}
      </p>
      <div className="row end">
        <button type="button" className="button" onClick={props.onCancel}>
          {t('app.cancel')}
        </button>
        <button type="submit" className="button primary" disabled={props.isDisabled}>
          {props.action}
        </button>
      </div>
    </>
  )
}
