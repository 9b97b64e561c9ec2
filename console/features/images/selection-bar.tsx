import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { CopyButton } from '../../design/copy-button.tsx'
import { t, tn } from '../../i18n/index.ts'
import { BanDialog } from './ban-dialog.tsx'
import { linkOf, type ImageRecord } from './gallery.ts'
import type { Move } from './move-images.ts'

interface Props {
  readonly images: readonly ImageRecord[]
  readonly isTrash: boolean
  readonly isLocked: boolean
  readonly onMove: (move: Move, images: readonly ImageRecord[]) => void
  readonly onClear: () => void
}

/** What can be done with the selected images of the gallery, or of the trash. */
export function SelectionBar({ images, isTrash, isLocked, onMove, onClear }: Props) {
  const [isBanning, setBanning] = useState(false)
  const title = tn('images.selected', images.length)
  return (
    <div className="selection fixed row floating" role="region" aria-label={title}>
      <strong className="figures">{title}</strong>
      {isTrash ? (
        <Button
          icon="undo"
          label={t('images.restore')}
          disabled={isLocked}
          onClick={() => onMove('restore', images)}
        />
      ) : (
        <>
          <CopyButton
            text={images.map(({ hash }) => linkOf(hash)).join('\n')}
            label={t('images.copyLinks')}
          />
          <Button icon="download" label={t('images.download')} onClick={() => download(images)} />
          <Button icon="lock" label={t('images.ban')} disabled={isLocked} onClick={() => setBanning(true)} />
        </>
      )}
      <Button
        look="danger"
        icon="trash"
        label={t(isTrash ? 'images.deleteForever' : 'images.delete')}
        disabled={isLocked}
        onClick={() => onMove(isTrash ? 'delete' : 'trash', images)}
      />
      <Button look="quiet" label={t('domains.clearSelection')} onClick={onClear} />
      {isBanning && (
        <BanDialog
          images={images}
          onTrash={() => onMove('trash', images)}
          onClose={() => setBanning(false)}
        />
      )}
    </div>
  )
}

/** Saves the originals under their names. */
function download(images: readonly ImageRecord[]): void {
  for (const { hash, name } of images) {
    const anchor = document.createElement('a')
    anchor.href = linkOf(hash)
    anchor.download = name
    anchor.click()
  }
}
