import { useId, useState, type FormEvent } from 'react'
import { ApiError } from '../api/client.ts'
import { learnScope } from '../api/scope.ts'
import { keepKey, refused, SERVICES, type ServiceName } from '../api/session.ts'
import { t } from '../i18n/index.ts'
import { faultText } from './fault-text.ts'
import { useStore } from './store.ts'
import { Choices } from './preferences.tsx'
import { say } from './toasts.tsx'

/** @throws ApiError if the key is invalid, ConnectionLost */
async function serviceOfKey(key: string): Promise<ServiceName> {
  let last: unknown
  for (const service of SERVICES) {
    try {
      await learnScope(service, key)
      return service
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 403) throw error
      last = error
    }
  }
  throw last
}

export function SignIn() {
  const lost = useStore(refused)
  return (
    <main className="sign-in">
      <section className="sign-card stack">
        <Mark />
        <h1>{t('sign.title')}</h1>
        {lost !== undefined && (
          <p className="callout danger" role="alert">
            {t('sign.revoked', { service: t(`service.${lost}`) })}
          </p>
        )}
        <p className="muted">{t('sign.text')}</p>
        <KeyForm />
      </section>
      <Choices />
    </main>
  )
}

/** The field a key is pasted into. */
export function KeyForm({ onDone }: { onDone?: () => void }) {
  const id = useId()
  const [key, setKey] = useState('')
  const [isRemembered, setRemembered] = useState(false)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function enter(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const service = await serviceOfKey(key.trim())
      keepKey(service, key.trim(), isRemembered)
      say(t('sign.opened', { service: t(`service.${service}`) }))
      onDone?.()
    } catch (error) {
      setFault(faultText(error))
      setBusy(false)
    }
  }

  return (
    <form className="stack" onSubmit={(event) => void enter(event)}>
      <div className="field">
        <label htmlFor={id}>{t('sign.key')}</label>
        <input
          id={id}
          className="input mono"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          maxLength={200}
          value={key}
          aria-invalid={fault !== undefined}
          aria-describedby={`${id}-fault`}
          onChange={(event) => setKey(event.target.value)}
        />
      </div>
      <p id={`${id}-fault`} className="fault-text" role="alert">
        {fault}
      </p>
      <label className="check">
        <input
          type="checkbox"
          checked={isRemembered}
          onChange={(event) => setRemembered(event.target.checked)}
        />
        <span>
          {t('sign.remember')} <span className="muted block">{t('sign.rememberHint')}</span>
        </span>
      </label>
      <button type="submit" className="button primary" disabled={isBusy || key.trim() === ''}>
        {t(isBusy ? 'sign.checking' : 'sign.enter')}
      </button>
    </form>
  )
}

/** The spyglass. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M3.500 20.500 20 11.300l3.200 5.800L6.700 26.300z" />
      <path d="m20 11.300 4.800-5.300 4.600 8.200-6.200 2.900" />
      <path d="m13 15.200 3.200 5.800" />
    </svg>
  )
}
