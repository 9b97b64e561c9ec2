import { useState, type ComponentProps } from 'react'
import { callApi } from '../../api/client.ts'
import { useApi } from '../../api/query-client.ts'
import type { Account } from '../../../clients/js/schema.ts'
import { DELIVERY_MODES } from '../../base/constants.ts'
import { navigate, useRoute } from '../../base/router.ts'
import { Button } from '../../design/elements.tsx'
import { FormDialog } from '../../design/dialog.tsx'
import { Meter, WideTable } from '../../design/page.tsx'
import { QueryResult } from '../../design/notice.tsx'
import { showToast } from '../../design/toasts.tsx'
import { unsentForms } from '../work/forms.tsx'
import { bytes, count, moment, t } from '../../i18n/index.ts'
import { SelectField, TextField } from '../../design/field.tsx'
import '../../i18n/texts/usage.ts'

/** The accounts with their usage and limits. */
export function Accounts() {
  const { query } = useRoute()
  const accounts = useApi(['admin', 'accounts'], 'GET /api/v1/admin/accounts', { select: ({ data }) => data })
  const settling = accounts.data?.find(
    ({ account, delivery }) => account === query.get('limites') && delivery !== null,
  )
  return (
    <section className="stack">
      <h2 id="accounts">{t('admin.accounts')}</h2>
      <QueryResult of={accounts}>
        {(data) => (
          <WideTable
            labelledBy="accounts"
            heads={[
              t('app.account'),
              t('admin.service'),
              t('admin.activeKeys'),
              t('nav.images'),
              t('app.stored'),
              t('admin.delivery'),
              t('admin.used'),
            ]}
            numbers={[t('admin.activeKeys')]}
            actions={t('admin.settle')}
          >
            {data.map((one) => (
              <Row
                key={`${one.service} ${one.account}`}
                account={one}
                onSettle={() => navigate('claves', new URLSearchParams({ limites: one.account }))}
              />
            ))}
          </WideTable>
        )}
      </QueryResult>
      {settling !== undefined && (
        <LimitsDialog key={settling.account} account={settling} onClose={() => navigate('claves')} />
      )}
    </section>
  )
}

function Row({ account, onSettle }: { account: Account; onSettle: () => void }) {
  const { delivery, max_bytes, max_images } = account
  return (
    <tr>
      <th scope="row" className="named account">
        {account.account}
      </th>
      <td>{t(`service.${account.service}`)}</td>
      <td className="number">{count(account.keys)}</td>
      {delivery === null ? (
        <>
          <td />
          <td />
          <td />
        </>
      ) : (
        <>
          <td>
            <Held used={account.images} max={max_images} text={count} />
          </td>
          <td>
            <Held used={account.bytes} max={max_bytes} text={bytes} />
          </td>
          <td>{t(`delivery.${delivery}`)}</td>
        </>
      )}
      <td>{account.used === null ? t('app.never') : moment(account.used)}</td>
      <td className="number">
        {delivery !== null && (
          <Button look="quiet" label={t('admin.settle')} about={account.account} onClick={onSettle} />
        )}
      </td>
    </tr>
  )
}

function Held(props: { used: number; max: number | null; text: (n: number) => string }) {
  const { used, max, text } = props
  return (
    <span className="held stack tight figures">
      <span>
        {text(used)} {max !== null && <span className="muted">{t('usage.of', { max: text(max) })}</span>}
      </span>
      {max !== null && <Meter part={max === 0 ? 1 : used / max} />}
    </span>
  )
}

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

const useFields = unsentForms<Fields>()

/** Edits the limits and the delivery mode of an application. */
function LimitsDialog({ account, onClose }: { account: Account; onClose: () => void }) {
  const [shown] = useState(() => fieldsOf(account))
  const { fields, bind, ...form } = useFields(account.account, shown)
  const { images, megabytes, mode } = fields

  async function save() {
    // Only what changed, so that changes of others are kept.
    const query = {
      account: account.account,
      max_images: images === shown.images ? undefined : images || NONE,
      max_bytes:
        megabytes === shown.megabytes
          ? undefined
          : (megabytes && String(Math.round(Number(megabytes) * MB))) || NONE,
      delivery: mode === shown.mode ? undefined : mode,
    }
    await callApi('POST /api/v1/admin/limits', { query })
    showToast(t('admin.settled', { account: account.account }))
  }

  return (
    <FormDialog
      title={t('admin.settleTitle', { account: account.account })}
      action={t('app.save')}
      form={form}
      shownBy="admin"
      onSend={save}
      onClose={onClose}
    >
      <Bound label={t('admin.maxImages')} {...bind('images')} step="1" />
      <Bound label={t('admin.maxMegabytes')} {...bind('megabytes')} step="any" />
      <p className="muted">{t('admin.boundHint')}</p>
      <SelectField
        label={t('admin.delivery')}
        {...bind('mode')}
        options={DELIVERY_MODES}
        textOf={(one) => t(`delivery.${one}`)}
      />
      <p className="muted">{t(`delivery.${mode}Text`)}</p>
    </FormDialog>
  )
}

const Bound = (props: ComponentProps<typeof TextField>) => (
  <TextField {...props} type="number" min={0} placeholder={t('app.noLimit')} />
)
