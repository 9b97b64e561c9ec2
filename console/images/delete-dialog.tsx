import { useState } from 'react'
import { ask } from '../api/client.ts'
import { faultText } from '../app/fault-text.ts'
import { say } from '../app/toasts.tsx'
import { Dialog } from '../design/parts.tsx'
import { t, tn } from '../i18n/index.ts'
import { thumbOf, type ImageRecord } from './record.ts'
import './delete-dialog.css'

const SHOWN = 8

export function DeleteDialog(props: {
  images: readonly ImageRecord[]
  onClose: () => void
  onDeleted: () => void
}) {
  const { images, onClose, onDeleted } = props
  /** How many were tried; undefined before it begins. */
  const [tried, setTried] = useState<number>()

  async function remove() {
    let gone = 0
    for (const [i, { hash, name }] of images.entries()) {
      setTried(i)
      try {
        await ask('POST /api/v1/imagestore/delete', { query: { hash } })
        gone++
      } catch (error) {
        say(t('images.deleteFailed', { name, msg: faultText(error) }), { isFault: true })
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
      {images.length === 1 && <p className="delete-name">{images[0]?.name}</p>}
      {images.length > SHOWN && <p className="muted">{t('images.andMore', { n: images.length - SHOWN })}</p>}
      <p>{t('images.deleteText')}</p>
      <div className="row end">
        <button type="button" className="button" onClick={onClose}>
          {t('app.cancel')}
        </button>
        <button
          type="button"
          className="button danger"
          disabled={tried !== undefined}
          onClick={() => void remove()}
        >
          {tried === undefined ? t('images.delete') : t('images.deleting', { n: tried, all: images.length })}
        </button>
      </div>
    </Dialog>
  )
}
