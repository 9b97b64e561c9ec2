import { useState } from 'react'
import { callApi } from '../../api/client.ts'
import { useApi } from '../../api/query-client.ts'
import type { Operations } from '../../api/schema.ts'
import { serverNow } from '../../base/server.ts'
import { runOperation, toOperation } from '../work/operations.ts'
import { navigate, useRoute } from '../../base/router.ts'
import { Button } from '../../design/elements.tsx'
import { QueryResult } from '../../design/notice.tsx'
import { moment, t, tn } from '../../i18n/index.ts'
import '../../i18n/texts/admin.ts'
import { Accounts } from './accounts.tsx'
import { rateText, NewKey } from './new-key.tsx'
import { WideTable } from '../../design/wide-table.tsx'
import { ConfirmDialog } from '../../design/dialog.tsx'
import './admin.css'

type Key = Operations['GET /api/v1/admin/keys']['answer']['data'][number]

/** The accounts with their usage, and all keys. */
export default function KeysScreen() {
  const { query } = useRoute()
  const [revoking, setRevoking] = useState<Key>()
  return (
    <div className="page">
      <header>
        <h1 className="grow">{t('nav.keys')}</h1>
        <Button
          look="primary"
          icon="plus"
          label={t('admin.newKey')}
          onClick={() => navigate('claves', new URLSearchParams({ nueva: '' }))}
        />
      </header>
      <div className="admin-parts stack">
        <Accounts />
        <Keys onRevoke={setRevoking} />
      </div>
      {query.has('nueva') && <NewKey onClose={() => navigate('claves')} />}
      {revoking !== undefined && <Revoke record={revoking} onClose={() => setRevoking(undefined)} />}
    </div>
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
              isWidest
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
        service: 'admin',
        subject: `key:${id}`,
        pending: t('admin.revoking', { id }),
        done: t('admin.revoked', { id }),
        failed: (reason) => t('admin.revokeFailed', { id, reason }),
        shownBy: ['admin'],
        send: (key) => callApi('POST /api/v1/admin/revoke', { query: { id }, key }),
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
