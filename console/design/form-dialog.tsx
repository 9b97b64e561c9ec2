import { useState, type FormEvent, type ReactNode } from 'react'
import { queryClient } from '../api/query-client.ts'
import { changeErrorMessage } from '../api/error-message.ts'
import { useIsMounted } from '../base/is-mounted.ts'
import { Button } from './button.tsx'
import { showToast } from './toasts.tsx'
import { t } from '../i18n/index.ts'
import { Dialog } from './dialog.tsx'

interface FormDialogProps {
  readonly title: string
  /** The text of the button that sends. */
  readonly action: string
  /** A click outside does not close it, because that would lose what was typed. */
  readonly hasInput?: boolean
  readonly isDisabled?: boolean
  /** The queries that show what it changes. */
  readonly shownBy: 'watches' | 'admin'
  /** Rejects with the error to show. */
  readonly onSend: () => Promise<void>
  /** Called when it was sent or cancelled; not when it is only closed. */
  readonly onDone?: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form in a dialog, which closes once it is sent. */
export function FormDialog(props: FormDialogProps) {
  const { title, hasInput = false, shownBy, onSend, onDone, onClose } = props
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
      onDone?.()
      // The user may have gone elsewhere in the meantime.
      if (isOpen.current) onClose()
    } catch (error) {
      if (!isOpen.current) showToast(`${title}. ${changeErrorMessage(error)}`, { isError: true })
      setFault(changeErrorMessage(error))
      setBusy(false)
    } finally {
      // Also after a failure: if the response was lost, only the lists show whether it was done.
      void queryClient.invalidateQueries({ queryKey: [shownBy] })
    }
  }

  function cancel() {
    onDone?.()
    onClose()
  }

  return (
    <Dialog title={title} hasInput={hasInput} onClose={onClose}>
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
