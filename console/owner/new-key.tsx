import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { addressOf, ask } from '../api/client.ts'
import { SERVICES, type ServiceName } from '../api/session.ts'
import { faultText } from '../app/fault-text.ts'
import { CopyButton, Dialog, DialogFoot } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'

interface Made {
  readonly key: string
  readonly service: ServiceName
  readonly account: string
}

/** Asks for an account and a service, then shows the key, which is in no other place. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const [account, setAccount] = useState('')
  const [service, setService] = useState<ServiceName>('domainwatch')
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [made, setMade] = useState<Made>()

  async function make(event: FormEvent) {
    event.preventDefault()
    // A second press would make a second key, which nobody sees.
    setBusy(true)
    setFault(undefined)
    try {
      const { data } = await ask('POST /api/v1/admin/create', { query: { account, service } })
      setMade(data)
      await queries.invalidateQueries({ queryKey: ['admin'] })
    } catch (error) {
      setFault(faultText(error))
      setBusy(false)
    }
  }

  if (made !== undefined) return <Shown made={made} onClose={onClose} />
  return (
    <Dialog title={t('owner.newKey')} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void make(event)}>
        <label className="field">
          <span>{t('owner.account')}</span>
          <input
            className="input"
            required
            maxLength={100}
            autoComplete="off"
            value={account}
            onChange={(event) => setAccount(event.target.value)}
          />
        </label>
        <label className="field">
          <span>{t('owner.service')}</span>
          <select
            className="input"
            value={service}
            onChange={(event) =>
              setService(SERVICES.find((one) => one === event.target.value) ?? 'domainwatch')
            }
          >
            {SERVICES.map((one) => (
              <option key={one} value={one}>
                {t(`service.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <DialogFoot
          fault={fault}
          action={t('owner.make')}
          isDisabled={isBusy || account.trim() === ''}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

const TRIES: Readonly<Record<ServiceName, string>> = {
  domainwatch: '/api/v1/domainwatch/list',
  imagestore: '/api/v1/imagestore/list',
  admin: '/api/v1/admin/system',
}

function Shown({ made, onClose }: { made: Made; onClose: () => void }) {
  const line = `curl '${addressOf(TRIES[made.service], { api: made.key }).href}'`
  return (
    <Dialog title={t('owner.keyMade', { account: made.account })} isFirm onClose={onClose}>
      <p className="callout">{t('owner.once')}</p>
      <code className="secret" translate="no">
        {made.key}
      </code>
      <div className="row">
        <CopyButton text={made.key} label={t('owner.copyKey')} />
        <CopyButton text={line} label={t('domains.curl')} isPlain />
      </div>
      <code className="address">{line}</code>
      <div className="row end">
        <button type="button" className="button primary" onClick={onClose}>
          {t('owner.kept')}
        </button>
      </div>
    </Dialog>
  )
}
