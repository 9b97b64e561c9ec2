import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { DELIVERY_MODES } from '../api/constants.ts'
import { callApi } from '../api/client.ts'
import type { Operations } from '../api/schema.ts'
import { changeErrorMessage } from '../app/error-message.ts'
import { showToast } from '../app/toasts.tsx'
import { Dialog, DialogFooter } from '../design/dialog.tsx'
import { t } from '../i18n/index.ts'
import '../i18n/texts/usage.ts'

export type Account = Operations['GET /api/v1/admin/accounts']['answer']['data'][number]

const MB = 1_000_000
/** The value for no limit. */
const NONE = 'none'

/** Edits the limits and the delivery mode of an application. */
export function LimitsDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const queries = useQueryClient()
  const [images, setImages] = useState(account.max_images === null ? '' : String(account.max_images))
  const [megabytes, setMegabytes] = useState(account.max_bytes === null ? '' : String(account.max_bytes / MB))
  const [mode, setMode] = useState<(typeof DELIVERY_MODES)[number]>(account.delivery ?? 'open')
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)

  async function settle(event: FormEvent) {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      const query = {
        account: account.account,
        max_images: images === '' ? NONE : images,
        max_bytes: megabytes === '' ? NONE : String(Math.round(Number(megabytes) * MB)),
        delivery: mode,
      }
      await callApi('POST /api/v1/admin/limits', { query })
      showToast(t('admin.settled', { account: account.account }))
      await queries.invalidateQueries({ queryKey: ['admin'] })
      onClose()
    } catch (error) {
      setFault(changeErrorMessage(error))
      setBusy(false)
    }
  }

  return (
    <Dialog title={t('admin.settleTitle', { account: account.account })} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void settle(event)}>
        <Bound label={t('admin.maxImages')} value={images} step="1" onChange={setImages} />
        <Bound label={t('admin.maxMegabytes')} value={megabytes} step="any" onChange={setMegabytes} />
        <p className="muted">{t('admin.boundHint')}</p>
        <label className="field">
          <span>{t('admin.delivery')}</span>
          <select
            className="input"
            value={mode}
            onChange={(event) => setMode(DELIVERY_MODES.find((one) => one === event.target.value) ?? 'open')}
          >
            {DELIVERY_MODES.map((one) => (
              <option key={one} value={one}>
                {t(`delivery.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <p className="muted">{t(`delivery.${mode}Text`)}</p>
        <DialogFooter fault={fault} action={t('admin.save')} isDisabled={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function Bound(props: { label: string; value: string; step: string; onChange: (value: string) => void }) {
  return (
    <label className="field">
      <span>{props.label}</span>
      <input
        className="input"
        type="number"
        min={0}
        step={props.step}
        placeholder={t('usage.noBound')}
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </label>
  )
}
