import { useState } from 'react'
import { ask } from '../api/client.ts'
import { say } from '../app/toasts.tsx'
import { Dialog } from '../design/parts.tsx'
import { t, tn } from '../i18n/index.ts'
import { thumbOf, type ImageRecord } from './record.ts'

const SHOWN = 8

export function DeleteDialog(props: {
  images: readonly ImageRecord[]
  onClose: () => void
  onDeleted: () => void
}) {
  const { images, onClose, onDeleted } = props
  const [isBusy, setBusy] = useState(false)

  async function remove() {
    setBusy(true)
    let gone = 0
    for (const { hash, name } of images) {
      try {
        await ask('POST /api/v1/imagestore/delete', { query: { hash } })
        gone++
      } catch (error) {
        const msg = error instanceof Error && error.message !== '' ? error.message : t('app.lost')
        say(t('images.deleteFailed', { name, msg }), { isFault: true })
      }
    }
    if (gone > 0) say(tn('images.deleted', gone))
    onDeleted()
  }

  return (
    <Dialog title={tn('images.deleteTitle', images.length)} onClose={onClose}>
      <ul className="delete-pictures">
        {images.slice(0, SHOWN).map((image) => (
          <li key={image.hash}>
            <img src={thumbOf(image, 72)} alt={image.name} />
          </li>
        ))}
      </ul>
      <p>{t('images.deleteText')}</p>
      <div className="row end">
        <button type="button" className="button" onClick={onClose}>
          {t('app.cancel')}
        </button>
        <button type="button" className="button danger" disabled={isBusy} onClick={() => void remove()}>
          {t('images.delete')}
        </button>
      </div>
    </Dialog>
  )
}
