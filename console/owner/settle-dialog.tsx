import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { ask } from '../api/client.ts'
import type { Operations } from '../api/schema.ts'
import { changeFaultText } from '../app/fault-text.ts'
import { say } from '../app/toasts.tsx'
import { Dialog, DialogFoot } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'
import '../i18n/texts/usage.ts'

export type Account = Operations['GET /api/v1/admin/accounts']['answer']['data'][number]

const MODES = ['open', 'ladder', 'presets', 'signed'] as const
const MB = 1_000_000
/** The value for no limit. */
const NONE = 'none'

/** Edits the limits and the delivery mode of an application. */
export function SettleDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const queries = useQueryClient()
  const [images, setImages] = useState(account.max_images === null ? '' : String(account.max_images))
  const [megabytes, setMegabytes] = useState(account.max_bytes === null ? '' : String(account.max_bytes / MB))
  const [mode, setMode] = useState<(typeof MODES)[number]>(account.delivery ?? 'open')
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
      await ask('POST /api/v1/admin/limits', { query })
      say(t('owner.settled', { account: account.account }))
      await queries.invalidateQueries({ queryKey: ['admin'] })
      onClose()
    } catch (error) {
      setFault(changeFaultText(error))
      setBusy(false)
    }
  }

  return (
    <Dialog title={t('owner.settleTitle', { account: account.account })} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void settle(event)}>
        <Bound label={t('owner.maxImages')} value={images} step="1" onChange={setImages} />
        <Bound label={t('owner.maxMegabytes')} value={megabytes} step="any" onChange={setMegabytes} />
        <p className="muted">{t('owner.boundHint')}</p>
        <label className="field">
          <span>{t('owner.delivery')}</span>
          <select
            className="input"
            value={mode}
            onChange={(event) => setMode(MODES.find((one) => one === event.target.value) ?? 'open')}
          >
            {MODES.map((one) => (
              <option key={one} value={one}>
                {t(`delivery.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <p className="muted">{t(`delivery.${mode}Text`)}</p>
        <DialogFoot fault={fault} action={t('owner.save')} isDisabled={isBusy} onCancel={onClose} />
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
