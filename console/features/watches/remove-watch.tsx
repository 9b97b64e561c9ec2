import { useQueryClient } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { keyFor } from '../../api/session.ts'
import { runOperation } from '../work/operations.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { t } from '../../i18n/index.ts'
import type { Watch } from './watch-item.tsx'

/** Asks for confirmation, because its secret and feed address are lost. */
export function RemoveWatch({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const queries = useQueryClient()
  function remove() {
    const { id, name } = watch
    const key = keyFor('domainwatch')
    // Deleted by someone else already, as the list shows.
    const refresh = () => void queries.invalidateQueries({ queryKey: ['watches'] })
    runOperation({
      service: 'domainwatch',
      subjects: [`watch:${id}`],
      pending: t('watch.removing', { name }),
      failed: (reason) => t('watch.removeFailed', { name, reason }),
      onFailed: refresh,
      async run() {
        await callApi('DELETE /api/v1/domainwatch/watches', {
          query: { id },
          ...(key === undefined ? {} : { key }),
        })
        refresh()
        return { text: t('watch.removed', { name }) }
      },
    })
    onClose()
  }
  return (
    <Dialog title={t('watch.removeTitle', { name: watch.name })} onClose={onClose}>
      <p>{t('watch.removeText')}</p>
      <div className="row end">
        <Button label={t('app.cancel')} onClick={onClose} />
        <Button look="danger" label={t('watch.remove')} onClick={remove} />
      </div>
    </Dialog>
  )
}
