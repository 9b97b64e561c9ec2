import { useState } from 'react'
import { callApi } from '../api/client.ts'
import { changeErrorMessage } from '../app/error-message.ts'
import { useIsMounted } from '../app/is-mounted.ts'
import { showOnce } from '../app/one-time-results.tsx'
import { showToast } from '../app/toasts.tsx'
import { Dialog } from '../design/dialog.tsx'
import { moment, t } from '../i18n/index.ts'
import { ShownOnce } from './shown-once.tsx'
import type { Watch } from './watch-item.tsx'

/** Asks for confirmation, because receivers need the new secret, then shows it. */
export function RotateSecret({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isOpen = useIsMounted()
  const title = t('watch.rotateTitle', { name: watch.name })

  async function rotate() {
    setBusy(true)
    setFault(undefined)
    try {
      await showOnce('domainwatch', async () => {
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
      if (isOpen.current) onClose()
    } catch (error) {
      if (!isOpen.current) showToast(`${title}. ${changeErrorMessage(error)}`, { isError: true })
      setFault(changeErrorMessage(error))
      setBusy(false)
    }
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <p>{t('watch.rotateText')}</p>
      <p className="fault-text" role="alert">
        {fault}
      </p>
      <div className="row end">
        <button type="button" className="button" onClick={onClose}>
          {t('app.cancel')}
        </button>
        <button type="button" className="button primary" disabled={isBusy} onClick={() => void rotate()}>
          {t('watch.rotate')}
        </button>
      </div>
    </Dialog>
  )
}
