import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api/client.ts'
import type { Operations } from '../api/schema.ts'
import { serverNow } from '../api/server.ts'
import { perform } from '../app/operations.ts'
import { Answer } from '../design/answer.tsx'
import { Icon } from '../design/icon.tsx'
import { Dialog } from '../design/parts.tsx'
import { moment, t, tn } from '../i18n/index.ts'
import '../i18n/texts/owner.ts'
import { Accounts } from './accounts.tsx'
import { rateText } from './limits.ts'
import { NewKey } from './new-key.tsx'
import './owner.css'

type Key = Operations['GET /api/v1/admin/keys']['answer']['data'][number]

/** The accounts with their usage, and all keys. */
export default function KeysScreen() {
  const [isMaking, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<Key>()
  return (
    <div className="page">
      <header>
        <h1 className="grow">{t('nav.keys')}</h1>
        <button type="button" className="button primary" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          {t('owner.newKey')}
        </button>
      </header>
      <div className="owner-parts">
        <Accounts />
        <Keys onRevoke={setRevoking} />
      </div>
      {isMaking && <NewKey onClose={() => setMaking(false)} />}
      {revoking !== undefined && <Revoke record={revoking} onClose={() => setRevoking(undefined)} />}
    </div>
  )
}

function Keys({ onRevoke }: { onRevoke: (key: Key) => void }) {
  const keys = useQuery({
    queryKey: ['admin', 'keys'],
    queryFn: async ({ signal }) => (await ask('GET /api/v1/admin/keys', { signal })).data.data,
  })
  return (
    <section className="stack">
      <h2 id="keys">{t('nav.keys')}</h2>
      <Answer of={keys}>
        {(data) => (
          <>
            <div className="scroll-x" tabIndex={0} role="region" aria-labelledby="keys">
              <table className="plain cards">
                <thead>
                  <tr>
                    <th scope="col">{t('owner.id')}</th>
                    <th scope="col">{t('owner.account')}</th>
                    <th scope="col">{t('owner.service')}</th>
                    <th scope="col">{t('owner.scope')}</th>
                    <th scope="col">{t('owner.expires')}</th>
                    <th scope="col">{t('owner.rate')}</th>
                    <th scope="col">{t('owner.made')}</th>
                    <th scope="col">{t('owner.used')}</th>
                    <th scope="col">
                      <span className="visually-hidden">{t('owner.revoke')}</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {data.map((key) => (
                    <tr key={key.id} className={key.revoked === null && !hasExpired(key) ? '' : 'gone'}>
                      <th scope="row" className="mono named">
                        {key.id}
                      </th>
                      <td data-label={t('owner.account')}>{key.account}</td>
                      <td data-label={t('owner.service')}>{t(`service.${key.service}`)}</td>
                      <td data-label={t('owner.scope')}>{t(`scope.name.${key.scope}`)}</td>
                      <td data-label={t('owner.expires')}>
                        <Expiry record={key} />
                      </td>
                      <td className="figures" data-label={t('owner.rate')}>
                        {key.rate === null ? t('owner.noRate') : rateText(key.rate)}
                      </td>
                      <td data-label={t('owner.made')}>{moment(key.date)}</td>
                      <td data-label={t('owner.used')}>
                        {key.used === null ? t('owner.never') : moment(key.used)}
                      </td>
                      <td className="number">
                        {key.revoked === null ? (
                          <button type="button" className="button quiet" onClick={() => onRevoke(key)}>
                            {t('owner.revoke')}
                            <span className="visually-hidden"> {key.id}</span>
                          </button>
                        ) : (
                          <span className="muted">{t('owner.revokedOn', { date: moment(key.revoked) })}</span>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <p className="muted figures">{tn('owner.keys', data.length)}</p>
          </>
        )}
      </Answer>
    </section>
  )
}

const hasExpired = ({ expires }: Key) => expires !== null && expires * 1_000 <= serverNow()

function Expiry({ record }: { record: Key }) {
  const { expires } = record
  if (expires === null) return t('owner.neverExpires')
  return hasExpired(record) ? t('owner.expiredOn', { date: moment(expires) }) : moment(expires)
}

function Revoke({ record, onClose }: { record: Key; onClose: () => void }) {
  const queries = useQueryClient()
  function revoke() {
    const { id } = record
    const refresh = () => void queries.invalidateQueries({ queryKey: ['admin'] })
    perform({
      subjects: [`key:${id}`],
      pending: t('owner.revoking', { id }),
      failed: (reason) => t('owner.revokeFailed', { id, reason }),
      onFailed: refresh,
      async run() {
        await ask('POST /api/v1/admin/revoke', { query: { id } })
        refresh()
        return { text: t('owner.revoked', { id }) }
      },
    })
    onClose()
  }
  return (
    <Dialog title={t('owner.revokeTitle', { id: record.id })} onClose={onClose}>
      <p>{t('owner.revokeText', { account: record.account })}</p>
      <div className="row end">
        <button type="button" className="button" onClick={onClose}>
          {t('app.cancel')}
        </button>
        <button type="button" className="button danger" onClick={revoke}>
          {t('owner.revoke')}
        </button>
      </div>
    </Dialog>
  )
}
