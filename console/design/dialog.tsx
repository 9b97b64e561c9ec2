import { type FormEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { changeErrorMessage } from '../api/error-message.ts'
import { queryClient } from '../api/query-client.ts'
import { useIsMounted } from '../base/store.ts'
import { Button, IconButton } from './elements.tsx'
import { CopyButton } from './buttons.tsx'
import { showToast } from './toasts.tsx'
import { t } from '../i18n/index.ts'

interface DialogProps {
  readonly title: string
  readonly isWide?: boolean
  /** Only its buttons close it, because its content is shown only once. */
  readonly isFirm?: boolean
  /** A click outside does not close it, because that would lose what was typed. */
  readonly hasInput?: boolean
  /** Buttons next to the one that closes it. */
  readonly actions?: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Modal: the browser traps the focus, closes on Escape and restores the focus. */
export function Dialog(props: DialogProps) {
  const box = useRef<HTMLDialogElement>(null)
  const { onClose } = props
  // Before anything else is typed.
  useLayoutEffect(() => {
    const dialog = box.current
    dialog?.showModal()
    // Browsers would focus the button that closes it.
    dialog?.querySelector<HTMLElement>('form :is(input, textarea, select)')?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={box}
      className={props.isWide === true ? 'box wide floating' : 'box floating'}
      aria-label={props.title}
      closedby={props.isFirm === true || props.hasInput === true ? 'closerequest' : 'any'}
      onClose={onClose}
      onKeyDown={(event) => {
        // Not `cancel`: browsers close on a second Escape even if that event is prevented.
        if (props.isFirm === true && event.key === 'Escape') event.preventDefault()
      }}
    >
      <div className="stack">
        <div className="row">
          <h2 className="grow">{props.title}</h2>
          {props.actions}
          <IconButton icon="close" label={t('app.close')} onClick={onClose} />
        </div>
        {props.children}
      </div>
    </dialog>
  )
}

interface FormDialogProps {
  readonly title: string
  /** The text of the button that sends. */
  readonly action: string
  /** What was entered, which is forgotten when it was sent or cancelled; not when it is only closed. */
  readonly form?: { readonly isChanged: boolean; readonly forget: () => void }
  readonly isDisabled?: boolean
  /** The queries that show what it changes. */
  readonly shownBy?: 'watches' | 'rules' | 'admin' | 'images'
  /** Rejects with the error to show. */
  readonly onSend: () => Promise<void>
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form in a dialog, which closes once it is sent. */
export function FormDialog(props: FormDialogProps) {
  const { title, form, shownBy, onSend, onClose } = props
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isOpen = useIsMounted()

  async function send(event: FormEvent) {
    event.preventDefault()
    // A second click would send it twice.
    setBusy(true)
    setFault(undefined)
    try {
      await onSend()
      form?.forget()
      // The user may have gone elsewhere in the meantime.
      if (isOpen.current) onClose()
    } catch (error) {
      if (!isOpen.current) showToast(`${title}. ${changeErrorMessage(error)}`, { isError: true })
      setFault(changeErrorMessage(error))
      setBusy(false)
    } finally {
      // Also after a failure: if the response was lost, only the lists show whether it was done.
      if (shownBy !== undefined) void queryClient.invalidateQueries({ queryKey: [shownBy] })
    }
  }

  function cancel() {
    form?.forget()
    onClose()
  }

  return (
    <Dialog title={title} hasInput={form?.isChanged === true} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void send(event)}>
        {props.children}
        <p className="fault-text" role="alert">
          {fault}
        </p>
        <div className="row end">
          <Button label={t('app.cancel')} onClick={cancel} />
          <Button
            look="primary"
            isBusy={isBusy}
            label={props.action}
            type="submit"
            disabled={isBusy || props.isDisabled === true}
          />
        </div>
      </form>
    </Dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly text?: string
  /** The text of the button that does it. */
  readonly action: string
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children?: ReactNode
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({ title, text, action, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {text !== undefined && <p>{text}</p>}
      <div className="row end">
        <Button label={t('app.cancel')} onClick={onClose} />
        <Button look="danger" label={action} onClick={onConfirm} />
      </div>
    </Dialog>
  )
}

interface Secret {
  readonly label: string
  readonly secret: string
  /** A command that uses it. */
  readonly line?: string
}

interface ShownOnceProps {
  readonly title: string
  readonly text?: string
  readonly secrets: readonly Secret[]
  readonly note?: string
  readonly onClose: () => void
}

/** Secrets that the service returns only once. Only its buttons close it. */
export const ShownOnce = ({ title, text = t('app.once'), secrets, note, onClose }: ShownOnceProps) => (
  <Dialog title={title} isFirm onClose={onClose}>
    <p className="callout">{text}</p>
    {secrets.map(({ label, secret, line }) => (
      <section key={label} className="stack" aria-label={label}>
        <h3>{label}</h3>
        <code className="secret" translate="no">
          {secret}
        </code>
        <div className="row">
          <CopyButton text={secret} />
          {line !== undefined && <CopyButton text={line} label={t('app.curl')} isPlain />}
        </div>
        {line !== undefined && <code className="address">{line}</code>}
      </section>
    ))}
    {note !== undefined && <p className="muted">{note}</p>}
    <div className="row end">
      <Button look="primary" label={t('app.kept')} onClick={onClose} />
    </div>
  </Dialog>
)
