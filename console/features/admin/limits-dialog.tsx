import { useState } from 'react'
import { DELIVERY_MODES } from '../../base/constants.ts'
import { callApi } from '../../api/client.ts'
import type { Operations } from '../../api/schema.ts'
import { showToast } from '../../design/toasts.tsx'
import { unsentForms } from '../work/unsent-forms.ts'
import { FormDialog } from '../../design/form-dialog.tsx'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/usage.ts'

export type Account = Operations['GET /api/v1/admin/accounts']['answer']['data'][number]

const MB = 1_000_000
/** The value for no limit. */
const NONE = 'none'

interface Fields {
  /** Empty for no limit, like the next one. */
  readonly images: string
  readonly megabytes: string
  readonly mode: (typeof DELIVERY_MODES)[number]
}

const fieldsOf = ({ max_images, max_bytes, delivery }: Account): Fields => ({
  images: max_images === null ? '' : String(max_images),
  megabytes: max_bytes === null ? '' : String(max_bytes / MB),
  mode: delivery ?? 'open',
})

const useFields = unsentForms<Fields>('admin')

/** Edits the limits and the delivery mode of an application. */
export function LimitsDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const [shown] = useState(() => fieldsOf(account))
  const { fields, isChanged, set, forget } = useFields(account.account, shown)
  const { images, megabytes, mode } = fields

  async function save() {
    // Only what changed, so that changes of others are kept.
    const query = {
      account: account.account,
      ...(images === shown.images ? {} : { max_images: images === '' ? NONE : images }),
      ...(megabytes === shown.megabytes
        ? {}
        : { max_bytes: megabytes === '' ? NONE : String(Math.round(Number(megabytes) * MB)) }),
      ...(mode === shown.mode ? {} : { delivery: mode }),
    }
    await callApi('POST /api/v1/admin/limits', { query })
    showToast(t('admin.settled', { account: account.account }))
  }

  return (
    <FormDialog
      title={t('admin.settleTitle', { account: account.account })}
      action={t('admin.save')}
      hasInput={isChanged}
      shownBy="admin"
      onSend={save}
      onDone={forget}
      onClose={onClose}
    >
      <Bound
        label={t('admin.maxImages')}
        value={images}
        step="1"
        onChange={(next) => set({ images: next })}
      />
      <Bound
        label={t('admin.maxMegabytes')}
        value={megabytes}
        step="any"
        onChange={(next) => set({ megabytes: next })}
      />
      <p className="muted">{t('admin.boundHint')}</p>
      <label className="field">
        <span>{t('admin.delivery')}</span>
        <select
          className="input"
          value={mode}
          onChange={(event) =>
            set({ mode: DELIVERY_MODES.find((one) => one === event.target.value) ?? 'open' })
          }
        >
          {DELIVERY_MODES.map((one) => (
            <option key={one} value={one}>
              {t(`delivery.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <p className="muted">{t(`delivery.${mode}Text`)}</p>
    </FormDialog>
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
