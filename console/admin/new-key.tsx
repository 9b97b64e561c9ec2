import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { MAX_ACCOUNT_CHARACTERS, MAX_RATE, RATE_PERIODS, SCOPES } from '../api/constants.ts'
import { apiUrl, callApi } from '../api/client.ts'
import type { Scope } from '../api/scope.ts'
import { SERVICES, type ServiceName } from '../api/session.ts'
import { changeErrorMessage } from '../app/error-message.ts'
import { useIsMounted } from '../app/is-mounted.ts'
import { showOnce } from '../app/one-time-results.tsx'
import { showToast } from '../app/toasts.tsx'
import { useGuard } from '../app/unsaved-work.ts'
import { CopyButton } from '../design/copy-button.tsx'
import { Dialog, DialogFooter } from '../design/dialog.tsx'
import { t, tn } from '../i18n/index.ts'
import { LIFETIMES } from './key-limits.ts'

interface Made {
  readonly key: string
  readonly service: ServiceName
  readonly account: string
}

/** Asks for an account and a service, then shows the key, once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [account, setAccount] = useState('')
  const [service, setService] = useState<ServiceName>('domainwatch')
  const [scope, setScope] = useState<Scope>('full')
  const [expires, setExpires] = useState('')
  const [most, setMost] = useState('')
  const [period, setPeriod] = useState<(typeof RATE_PERIODS)[number]>('min')
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isOpen = useIsMounted()
  const hasInput = account !== '' || most !== ''
  useGuard(hasInput)

  async function make(event: FormEvent) {
    event.preventDefault()
    // A second click would create a second key that is never shown.
    setBusy(true)
    setFault(undefined)
    try {
      await showOnce('admin', async () => {
        const { data } = await callApi('POST /api/v1/admin/create', {
          query: {
            account,
            service,
            scope,
            ...(expires === '' ? {} : { expires }),
            ...(most === '' ? {} : { rate: `${most}/${period}` }),
          },
        })
        void queries.invalidateQueries({ queryKey: ['admin'] })
        return (close) => <Shown made={data} onClose={close} />
      })
      // The user may have gone elsewhere in the meantime.
      if (isOpen.current) onClose()
    } catch (error) {
      if (!isOpen.current) showToast(`${t('admin.newKey')}. ${changeErrorMessage(error)}`, { isError: true })
      setFault(changeErrorMessage(error))
      setBusy(false)
    }
  }

  return (
    <Dialog title={t('admin.newKey')} hasInput={hasInput} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void make(event)}>
        <label className="field">
          <span>{t('admin.account')}</span>
          <input
            className="input"
            required
            maxLength={MAX_ACCOUNT_CHARACTERS}
            autoComplete="off"
            value={account}
            onChange={(event) => setAccount(event.target.value)}
          />
        </label>
        <label className="field">
          <span>{t('admin.service')}</span>
          <select
            className="input"
            value={service}
            onChange={(event) => {
              setService(SERVICES.find((one) => one === event.target.value) ?? 'domainwatch')
              setScope('full')
            }}
          >
            {SERVICES.map((one) => (
              <option key={one} value={one}>
                {t(`service.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>{t('admin.scope')}</span>
          <select
            className="input"
            value={scope}
            onChange={(event) =>
              setScope(SCOPES[service].find((one) => one === event.target.value) ?? 'full')
            }
          >
            {SCOPES[service].toReversed().map((one) => (
              <option key={one} value={one}>
                {t(`scope.name.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>{t('admin.expires')}</span>
          <select className="input" value={expires} onChange={(event) => setExpires(event.target.value)}>
            <option value="">{t('admin.neverExpires')}</option>
            {LIFETIMES.map((one) => (
              <option key={one} value={one}>
                {tn('admin.days', Number.parseInt(one, 10))}
              </option>
            ))}
          </select>
        </label>
        <div className="row">
          <label className="field grow">
            <span>{t('admin.rate')}</span>
            <input
              className="input"
              type="number"
              min={1}
              max={MAX_RATE}
              step={1}
              placeholder={t('admin.noRate')}
              value={most}
              onChange={(event) => setMost(event.target.value)}
            />
          </label>
          <label className="field">
            <span>{t('admin.per')}</span>
            <select
              className="input"
              value={period}
              onChange={(event) => setPeriod(RATE_PERIODS.find((one) => one === event.target.value) ?? 'min')}
            >
              {RATE_PERIODS.map((one) => (
                <option key={one} value={one}>
                  {t(`admin.period.${one}`)}
                </option>
              ))}
            </select>
          </label>
        </div>
        <DialogFooter
          fault={fault}
          action={t('admin.make')}
          isDisabled={isBusy || account.trim() === ''}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

const TRIES: Readonly<Record<ServiceName, string>> = {
  domainwatch: '/api/v1/domainwatch/key',
  imagestore: '/api/v1/imagestore/key',
  admin: '/api/v1/admin/key',
}

function Shown({ made, onClose }: { made: Made; onClose: () => void }) {
  const line = `curl '${apiUrl(TRIES[made.service], { api: made.key }).href}'`
  return (
    <Dialog title={t('admin.keyMade', { account: made.account })} isFirm onClose={onClose}>
      <p className="callout">{t('admin.once')}</p>
      <code className="secret" translate="no">
        {made.key}
      </code>
      <div className="row">
        <CopyButton text={made.key} label={t('admin.copyKey')} />
        <CopyButton text={line} label={t('domains.curl')} isPlain />
      </div>
      <code className="address">{line}</code>
      <div className="row end">
        <button type="button" className="button primary" onClick={onClose}>
          {t('admin.kept')}
        </button>
      </div>
    </Dialog>
  )
}
