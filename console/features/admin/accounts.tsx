import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { navigate, useRoute } from '../../base/router.ts'
import { Button } from '../../design/button.tsx'
import { QueryResult } from '../../design/query-result.tsx'
import { Meter } from '../../design/meter.tsx'
import { bytes, count, moment, t } from '../../i18n/index.ts'
import { LimitsDialog, type Account } from './limits-dialog.tsx'
import '../../i18n/texts/usage.ts'

/** The accounts with their usage and limits. */
export function Accounts() {
  const { query } = useRoute()
  const accounts = useQuery({
    queryKey: ['admin', 'accounts'],
    queryFn: async ({ signal }) => (await callApi('GET /api/v1/admin/accounts', { signal })).data.data,
  })
  const settling = accounts.data?.find(
    ({ account, delivery }) => account === query.get('limites') && delivery !== null,
  )
  return (
    <section className="stack">
      <h2 id="accounts">{t('admin.accounts')}</h2>
      <QueryResult of={accounts}>
        {(data) => (
          <div className="scroll-x" tabIndex={0} role="region" aria-labelledby="accounts">
            <table className="plain cards">
              <thead>
                <tr>
                  <th scope="col">{t('admin.account')}</th>
                  <th scope="col">{t('admin.service')}</th>
                  <th scope="col" className="number">
                    {t('admin.activeKeys')}
                  </th>
                  <th scope="col">{t('nav.images')}</th>
                  <th scope="col">{t('app.stored')}</th>
                  <th scope="col">{t('admin.delivery')}</th>
                  <th scope="col">{t('admin.used')}</th>
                  <th scope="col">
                    <span className="visually-hidden">{t('admin.settle')}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {data.map((one) => (
                  <Row
                    key={`${one.service} ${one.account}`}
                    account={one}
                    onSettle={() => navigate('claves', new URLSearchParams({ limites: one.account }))}
                  />
                ))}
              </tbody>
            </table>
          </div>
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
      <td data-label={t('admin.service')}>{t(`service.${account.service}`)}</td>
      <td className="number" data-label={t('admin.activeKeys')}>
        {count(account.keys)}
      </td>
      {delivery === null ? (
        <>
          <td className="none">–</td>
          <td className="none">–</td>
          <td className="none">–</td>
        </>
      ) : (
        <>
          <td data-label={t('nav.images')}>
            <Held used={account.images} max={max_images} text={count} />
          </td>
          <td data-label={t('app.stored')}>
            <Held used={account.bytes} max={max_bytes} text={bytes} />
          </td>
          <td data-label={t('admin.delivery')}>{t(`delivery.${delivery}`)}</td>
        </>
      )}
      <td data-label={t('admin.used')}>{account.used === null ? t('admin.never') : moment(account.used)}</td>
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
    <span className="held figures">
      <span>
        {text(used)} {max !== null && <span className="muted">{t('usage.of', { max: text(max) })}</span>}
      </span>
      {max !== null && <Meter part={max === 0 ? 1 : used / max} />}
    </span>
  )
}
