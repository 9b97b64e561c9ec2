import { useId, useState, type FormEvent } from 'react'
import { ApiError } from '../api/client.ts'
import { enterAccess, isOfNextUser, loadAccess, type Access } from '../api/scope.ts'
import { SERVICES, session, storeKey, type ServiceName } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import { errorMessage } from '../api/error-message.ts'
import { HAS_PROXY_SIGN_IN } from '../base/server.ts'
import { useIsMounted } from '../base/store.ts'
import { hasUnsavedWork, reloadForNextUser } from '../base/unsaved-work.ts'
import { Button } from '../design/elements.tsx'
import { Check, TextField } from '../design/field.tsx'
import { showToast } from '../design/toasts.tsx'
import '../i18n/texts/sign-in.ts'

/** @throws ApiError if the key is invalid, ConnectionLost */
async function findAccess(key: string): Promise<Access> {
  let last: unknown
  for (const service of SERVICES) {
    try {
      return await loadAccess(service, key)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      last = error
    }
  }
  throw last
}

interface Props {
  /** The service whose key was rejected, if the form has to say so. */
  readonly rejected?: ServiceName | undefined
  readonly onDone?: () => void
}

/** The field a key is pasted into. */
export default function KeyForm({ rejected, onDone }: Props) {
  const faultId = useId()
  const [key, setKey] = useState('')
  const [isRemembered, setRemembered] = useState(false)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isOpen = useIsMounted()

  async function enter(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const access = await findAccess(key.trim())
      // Closing the dialog cancels it.
      if (onDone !== undefined && !isOpen.current) return
      const isNextUser = isOfNextUser(access)
      // After a rejection nobody is signed in, and what another user could not store is dropped.
      if (isNextUser && Object.keys(session.get()).length > 0 && hasUnsavedWork())
        throw new Error(t('sign.unfinished'))
      const { service } = access
      const isKept = storeKey(service, access.key, isRemembered)
      if (isNextUser) {
        reloadForNextUser()
        return
      }
      enterAccess(access)
      const opened = t('sign.opened', { service: t(`service.${service}`) })
      showToast(isKept ? opened : `${opened}. ${t('sign.notKept')}`, { isError: !isKept })
      onDone?.()
    } catch (error) {
      setFault(errorMessage(error))
      setBusy(false)
    }
  }

  return (
    <>
      {rejected !== undefined && <RejectedKey service={rejected} />}
      <form className="stack" onSubmit={(event) => void enter(event)}>
        <TextField
          label={t('sign.key')}
          // A dialog may have opened before this form was loaded.
          autoFocus={onDone !== undefined}
          type="password"
          isMono
          spellCheck={false}
          required
          maxLength={200}
          value={key}
          aria-invalid={fault !== undefined}
          aria-describedby={faultId}
          onChange={setKey}
        />
        <p id={faultId} className="fault-text" role="alert">
          {fault}
        </p>
        {!HAS_PROXY_SIGN_IN && (
          <Check
            label={t('sign.remember')}
            hint={t('sign.rememberHint')}
            value={isRemembered}
            onChange={setRemembered}
          />
        )}
        <Button
          look="primary"
          label={t(isBusy ? 'sign.checking' : 'sign.enter')}
          type="submit"
          disabled={isBusy || key.trim() === ''}
        />
      </form>
    </>
  )
}

/** Reports that the key of a service is no longer valid. */
export function RejectedKey({ service }: { service: ServiceName }) {
  return (
    <p className="callout danger" role="alert">
      {t('sign.revoked', { service: t(`service.${service}`) })}
    </p>
  )
}
