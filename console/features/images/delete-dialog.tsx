import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { t, tn } from '../../i18n/index.ts'
import { thumbOf, type ImageRecord } from './record.ts'
import './delete-dialog.css'

const SHOWN = 8

/** Asks for confirmation. */
export function DeleteDialog(props: {
  images: readonly ImageRecord[]
  onClose: () => void
  onConfirm: () => void
}) {
  const { images, onClose, onConfirm } = props
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
        <Button label={t('app.cancel')} onClick={onClose} />
        <Button look="danger" label={t('images.delete')} onClick={onConfirm} />
      </div>
    </Dialog>
  )
}
