import { useState } from 'react'
import { callApi, apiUrl } from '../../api/client.ts'
import { useApi } from '../../api/query-client.ts'
import type { Key } from '../../../clients/js/schema.ts'
import { serverNow } from '../../base/server.ts'
import { runOperation, toOperation } from '../work/operations.ts'
import { navigate, useRoute } from '../../base/router.ts'
import { Button } from '../../design/elements.tsx'
import { QueryResult } from '../../design/notice.tsx'
import { moment, t, tn, count } from '../../i18n/index.ts'
import { Accounts } from './accounts.tsx'
import { Page, WideTable } from '../../design/page.tsx'
import { ConfirmDialog, FormDialog, ShownOnce } from '../../design/dialog.tsx'
import type { Scope } from '../../api/scope.ts'
import { type ServiceName, SERVICES } from '../../api/session.ts'
import { MAX_ACCOUNT_CHARACTERS, MAX_RATE, RATE_PERIODS, SCOPES } from '../../base/constants.ts'
import { showOnce, unsentForms } from '../work/forms.tsx'
import { TextField, SelectField } from '../../design/field.tsx'
import '../../i18n/texts/admin.ts'
import './admin.css'

/** The accounts with their usage, and all keys. */
export default function KeysScreen() {
  const { query } = useRoute()
  const [revoking, setRevoking] = useState<Key>()
  return (
    <Page
      title={t('nav.keys')}
      tools={
        <Button
          look="primary"
          icon="plus"
          label={t('admin.newKey')}
          onClick={() => navigate('claves', new URLSearchParams({ nueva: '' }))}
        />
      }
    >
      <div className="admin-parts stack">
        <Accounts />
        <Keys onRevoke={setRevoking} />
      </div>
      {query.has('nueva') && <NewKey onClose={() => navigate('claves')} />}
      {revoking !== undefined && <Revoke record={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  )
}

function Keys({ onRevoke }: { onRevoke: (key: Key) => void }) {
  const keys = useApi(['admin', 'keys'], 'GET /api/v1/admin/keys', { select: ({ data }) => data })
  return (
    <section className="stack">
      <h2 id="keys">{t('nav.keys')}</h2>
      <QueryResult of={keys}>
        {(data) => (
          <>
            <WideTable
              labelledBy="keys"
              heads={[
                t('admin.id'),
                t('app.account'),
                t('admin.service'),
                t('admin.scope'),
                t('admin.expires'),
                t('admin.rate'),
                t('app.created'),
                t('admin.used'),
              ]}
              actions={t('admin.revoke')}
            >
              {data.map((key) => (
                <tr key={key.id} className={key.revoked === null && !hasExpired(key) ? '' : 'gone'}>
                  <th scope="row" className="mono named">
                    {key.id}
                  </th>
                  <td className="account">{key.account}</td>
                  <td>{t(`service.${key.service}`)}</td>
                  <td>{t(`scope.name.${key.scope}`)}</td>
                  <td>
                    <Expiry record={key} />
                  </td>
                  <td className="figures">{key.rate === null ? t('app.noLimit') : rateText(key.rate)}</td>
                  <td>{moment(key.date)}</td>
                  <td>{key.used === null ? t('app.never') : moment(key.used)}</td>
                  <td className="number">
                    {key.revoked === null ? (
                      <Button
                        look="quiet"
                        label={t('admin.revoke')}
                        about={key.id}
                        onClick={() => onRevoke(key)}
                      />
                    ) : (
                      <span className="muted">{t('admin.revokedOn', { date: moment(key.revoked) })}</span>
                    )}
                  </td>
                </tr>
              ))}
            </WideTable>
            <p className="muted figures">{tn('admin.keys', data.length)}</p>
          </>
        )}
      </QueryResult>
    </section>
  )
}

const hasExpired = ({ expires }: Key) => expires !== null && expires * 1_000 <= serverNow()

function Expiry({ record }: { record: Key }) {
  const { expires } = record
  if (expires === null) return t('app.never')
  return hasExpired(record) ? t('admin.expiredOn', { date: moment(expires) }) : moment(expires)
}

function Revoke({ record, onClose }: { record: Key; onClose: () => void }) {
  const { id } = record
  function revoke() {
    runOperation(
      toOperation({
        subject: `key:${id}`,
        pending: t('admin.revoking', { id }),
        done: t('admin.revoked', { id }),
        failed: (reason) => t('admin.revokeFailed', { id, reason }),
        shownBy: ['admin'],
        send: () => callApi('POST /api/v1/admin/revoke', { query: { id } }),
      }),
    )
    onClose()
  }
  return (
    <ConfirmDialog
      title={t('admin.revokeTitle', { id })}
      text={t('admin.revokeText', { account: record.account })}
      action={t('admin.revoke')}
      onConfirm={revoke}
      onClose={onClose}
    />
  )
}

interface Fields {
  readonly account: string
  readonly service: ServiceName
  readonly scope: Scope
  /** Empty for never. */
  readonly expires: string
  /** Requests per period; empty for no limit. */
  readonly most: string
  readonly period: (typeof RATE_PERIODS)[number]
}

const INITIAL: Fields = {
  account: '',
  service: 'domainwatch',
  scope: 'full',
  expires: '',
  most: '',
  period: 'min',
}

const useFields = unsentForms<Fields>()

/** Asks for an account and a service, then shows the key, once. */
function NewKey({ onClose }: { onClose: () => void }) {
  const { fields, bind, set, ...form } = useFields('new', INITIAL)
  const { account, service, scope, expires, most, period } = fields

  const make = () =>
    showOnce(async () => {
      const { data } = await callApi('POST /api/v1/admin/create', {
        query: {
          account,
          service,
          scope,
          expires: expires || undefined,
          rate: most === '' ? undefined : `${most}/${period}`,
        },
      })
      const url = apiUrl(`/api/v1/${data.service}/key`, { api: data.key })
      return (close) => (
        <ShownOnce
          title={t('admin.keyMade', { account: data.account })}
          secrets={[{ label: t('admin.key'), secret: data.key, line: `curl '${url.href}'` }]}
          onClose={close}
        />
      )
    })

  return (
    <FormDialog
      title={t('admin.newKey')}
      action={t('app.create')}
      form={form}
      shownBy="admin"
      isDisabled={account.trim() === ''}
      onSend={make}
      onClose={onClose}
    >
      <TextField label={t('app.account')} required maxLength={MAX_ACCOUNT_CHARACTERS} {...bind('account')} />
      <SelectField
        label={t('admin.service')}
        value={service}
        options={SERVICES}
        textOf={(one) => t(`service.${one}`)}
        onChange={(next) => set({ service: next, scope: 'full' })}
      />
      <SelectField<Scope>
        label={t('admin.scope')}
        {...bind('scope')}
        options={SCOPES[service].toReversed()}
        textOf={(one) => t(`scope.name.${one}`)}
      />
      <SelectField
        label={t('admin.expires')}
        {...bind('expires')}
        options={['', ...LIFETIMES]}
        textOf={(one) => (one === '' ? t('app.never') : tn('admin.days', Number.parseInt(one, 10)))}
      />
      <div className="row">
        <TextField
          label={t('admin.rate')}
          className="grow"
          type="number"
          min={1}
          max={MAX_RATE}
          step={1}
          placeholder={t('app.noLimit')}
          {...bind('most')}
        />
        <SelectField
          label={t('admin.per')}
          {...bind('period')}
          options={RATE_PERIODS}
          textOf={(one) => t(`admin.period.${one}`)}
        />
      </div>
    </FormDialog>
  )
}

const LIFETIMES = ['1d', '7d', '30d', '90d', '365d'] as const

/** `60/min` in words. */
function rateText(rate: string): string {
  const [number, unit] = rate.split('/')
  const period = RATE_PERIODS.find((one) => one === unit)
  return period === undefined ? rate : t(`admin.rate.${period}`, { n: count(Number(number)) })
}
