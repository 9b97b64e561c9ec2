import { type ImageRecord } from './gallery.ts'
import { Thumb } from './thumb.tsx'
import { t, tn } from '../../i18n/index.ts'
import { ConfirmDialog } from '../../design/dialog.tsx'
import './delete-dialog.css'
import '../../i18n/texts/images.ts'

const SHOWN = 8

/** Asks before images of the trash are deleted. */
export function DeleteDialog(props: {
  images: readonly ImageRecord[]
  onClose: () => void
  onConfirm: () => void
}) {
  const { images, onClose, onConfirm } = props
  return (
    <ConfirmDialog
      title={tn('images.deleteTitle', images.length)}
      text={t('images.deleteText')}
      action={t('images.deleteForever')}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <ul className="delete-pictures chips">
        {images.slice(0, SHOWN).map((image) => (
          <li key={image.hash}>
            <Thumb image={image} height={72} />
          </li>
        ))}
      </ul>
      {images.length === 1 && <p className="delete-name">{images[0]?.name}</p>}
      {images.length > SHOWN && <p className="muted">{t('images.andMore', { n: images.length - SHOWN })}</p>}
    </ConfirmDialog>
  )
}
