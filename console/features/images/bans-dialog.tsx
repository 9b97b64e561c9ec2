import { useMutation, useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { queryClient } from '../../api/query-client.ts'
import { Button, onFirstClick } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Notice, QueryResult } from '../../design/notice.tsx'
import { showError, showToast } from '../../design/toasts.tsx'
import { WideTable } from '../../design/wide-table.tsx'
import { moment, t } from '../../i18n/index.ts'

const QUERY_KEY = ['images', 'bans']

/** The banned images, each of which can be allowed again. */
export function BansDialog({ onClose }: { onClose: () => void }) {
  const bans = useQuery({
    queryKey: QUERY_KEY,
    queryFn: async ({ signal }) => (await callApi('GET /api/v1/imagestore/bans', { signal })).data.data,
  })
  const lift = useMutation({
    mutationFn: (id: string) => callApi('DELETE /api/v1/imagestore/bans', { query: { id } }),
    onSuccess: () => {
      showToast(t('images.banLifted'))
      return queryClient.invalidateQueries({ queryKey: QUERY_KEY })
    },
    onError: (error) => showError(error),
  })
  return (
    <Dialog title={t('images.bans')} isWide onClose={onClose}>
      <p className="muted" id="bans">
        {t('images.bansText')}
      </p>
      <QueryResult of={bans}>
        {(data) =>
          data.length === 0 ? (
            <Notice icon="lock" title={t('images.noBans')} />
          ) : (
            <WideTable
              labelledBy="bans"
              heads={[t('images.hash'), t('images.banDate'), t('images.banDistance')]}
              actions={t('images.banLift')}
            >
              {data.map(({ id, hash, dhash, date, distance }) => (
                <tr key={id}>
                  <th scope="row" className="mono">
                    {hash ?? dhash}
                  </th>
                  <td>{moment(date)}</td>
                  <td>{dhash === null ? t('images.banBytes') : t('images.banBits', { n: distance })}</td>
                  <td>
                    <Button
                      look="quiet"
                      label={t('images.banLift')}
                      about={hash ?? dhash ?? ''}
                      isBusy={lift.isPending && lift.variables === id}
                      onClick={onFirstClick(() => lift.isPending || lift.mutate(id))}
                    />
                  </td>
                </tr>
              ))}
            </WideTable>
          )
        }
      </QueryResult>
    </Dialog>
  )
}
