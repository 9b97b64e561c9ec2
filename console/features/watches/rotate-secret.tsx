import { callApi } from '../../api/client.ts'
import { showOnce } from '../work/one-time-results.tsx'
import { FormDialog } from '../../design/form-dialog.tsx'
import { moment, t } from '../../i18n/index.ts'
import { ShownOnce } from './shown-once.tsx'
import type { Watch } from './watch-item.tsx'

/** Asks for confirmation, because receivers need the new secret, then shows it. */
export function RotateSecret({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const rotate = () =>
    showOnce('domainwatch', async () => {
      const query = { id: watch.id }
      const { data } = await callApi('POST /api/v1/domainwatch/watches/rotate', { query })
      return (close) => (
        <ShownOnce
          title={t('watch.isRotated')}
          note={t('watch.overlap', { date: moment(Date.parse(data.until_utc) / 1_000) })}
          shown={{ secret: data.secret, atom: null }}
          onClose={close}
        />
      )
    })
  return (
    <FormDialog
      title={t('watch.rotateTitle', { name: watch.name })}
      action={t('watch.rotate')}
      shownBy="watches"
      onSend={rotate}
      onClose={onClose}
    >
      <p>{t('watch.rotateText')}</p>
    </FormDialog>
  )
}
