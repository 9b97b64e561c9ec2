import { useQueryClient } from '@tanstack/react-query'
import { ask } from '../api/client.ts'
import { say, sayFault } from '../app/toasts.tsx'
import { Dialog } from '../design/parts.tsx'
import { t } from '../i18n/index.ts'
import type { Watch } from './watch-item.tsx'

/** Asks once more: its secret and the address of its feed cannot be had again. */
export function RemoveWatch({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const queries = useQueryClient()
  async function remove() {
    try {
      await ask('DELETE /api/v1/domainwatch/watches', { query: { id: watch.id } })
      say(t('watch.removed', { name: watch.name }))
    } catch (error) {
      sayFault(error)
    }
    // Gone already, by somebody else: the list says so.
    await queries.invalidateQueries({ queryKey: ['watches'] })
    onClose()
  }
  return (
    <Dialog title={t('watch.removeTitle', { name: watch.name })} onClose={onClose}>
      <p>{t('watch.removeText')}</p>
      <div className="row end">
        <button type="button" className="button" onClick={onClose}>
          {t('app.cancel')}
        </button>
        <button type="button" className="button danger" onClick={() => void remove()}>
          {t('watch.remove')}
        </button>
      </div>
    </Dialog>
  )
}
