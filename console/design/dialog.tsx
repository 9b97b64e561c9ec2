import { useEffect, useRef, type ReactNode } from 'react'
import { t } from '../i18n/index.ts'
import { Icon } from './icon.tsx'

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

/** The error, the cancel button and the submit button of a dialog. */
export function DialogFooter(props: {
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
