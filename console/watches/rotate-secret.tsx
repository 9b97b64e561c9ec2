import { useState } from 'react'
import { callApi } from '../api/client.ts'
import { changeErrorMessage } from '../app/error-message.ts'
import { Dialog } from '../design/dialog.tsx'
import { moment, t } from '../i18n/index.ts'
import { ShownOnce } from './shown-once.tsx'
import type { Watch } from './watch-item.tsx'

interface Rotated {
  readonly secret: string
  readonly until_utc: string
}

/** Asks for confirmation, because receivers need the new secret, then shows it. */
export function RotateSecret({ watch, onClose }: { watch: Watch; onClose: () => void }) {
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const [rotated, setRotated] = useState<Rotated>()

  async function rotate() {
    setBusy(true)
    setFault(undefined)
    try {
      const query = { id: watch.id }
      setRotated((await callApi('POST /api/v1/domainwatch/watches/rotate', { query })).data)
    } catch (error) {
      setFault(changeErrorMessage(error))
      setBusy(false)
    }
  }

  if (rotated !== undefined)
    return (
      <ShownOnce
        title={t('watch.isRotated')}
        note={t('watch.overlap', { date: moment(Date.parse(rotated.until_utc) / 1_000) })}
        shown={{ secret: rotated.secret, atom: null }}
        onClose={onClose}
      />
    )
  return (
    <Dialog title={t('watch.rotateTitle', { name: watch.name })} onClose={onClose}>
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
