import { usePermissions } from '../../api/scope.ts'
import { useShortcuts, takesLetters } from '../../base/shortcuts.ts'
import { Button, IconButton, Fact } from '../../design/elements.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { ErrorNotice } from '../../design/notice.tsx'
import type { ImageRecord } from './gallery.ts'
import { AliasesField, FocusField, TagsField } from './image-edits.tsx'
import { NearDuplicates, useImage } from './near-duplicates.tsx'
import { TransformPlayground, CopyLinks } from './transform-playground.tsx'
import { bytes, count, moment, t } from '../../i18n/index.ts'
import './detail.css'

interface Props {
  readonly hash: string
  /** Its record, if the gallery has it already. */
  readonly known: ImageRecord | undefined
  /** Shows its neighbours in the gallery; undefined at an end. */
  readonly onPrevious: (() => void) | undefined
  readonly onNext: (() => void) | undefined
  readonly onClose: () => void
  readonly onDelete: (image: ImageRecord) => void
}

export function Detail({ hash, known, onPrevious, onNext, onClose, onDelete }: Props) {
  const isLocked = !usePermissions()('changeImages')
  const { data, error, refetch } = useImage(hash)
  const image = known ?? (data === undefined ? undefined : { dhash: '', ...data })
  const unlessTyping = (step: (() => void) | undefined) => (event: KeyboardEvent) => {
    if (!takesLetters(event.target)) step?.()
  }
  useShortcuts('image', { ArrowLeft: unlessTyping(onPrevious), ArrowRight: unlessTyping(onNext) }, 1)
  return (
    <Dialog
      title={image === undefined ? hash : image.name}
      isWide
      actions={
        <>
          <IconButton
            icon="left"
            label={t('images.previous')}
            disabled={onPrevious === undefined}
            onClick={onPrevious}
          />
          <IconButton
            icon="right"
            label={t('images.next')}
            disabled={onNext === undefined}
            onClick={onNext}
          />
        </>
      }
      onClose={onClose}
    >
      {image === undefined && error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {image !== undefined && (
        <div className="detail">
          <TransformPlayground image={image} />
          <div className="detail-side stack">
            <dl className="facts">
              <Fact label={t('images.kind')}>{image.mime}</Fact>
              <Fact label={t('images.pixels')} className="figures">
                {count(image.width)} × {count(image.height)}
              </Fact>
              <Fact label={t('images.size')} className="figures">
                {bytes(image.size)}
              </Fact>
              <Fact label={t('images.date')}>{moment(image.date)}</Fact>
              <Fact label={t('images.hash')} className="mono">
                {image.hash}
              </Fact>
              {image.dhash !== '' && (
                <Fact label={t('images.dhash')} className="mono">
                  {image.dhash}
                </Fact>
              )}
            </dl>
            <CopyLinks image={image} />
            <TagsField key={`tags ${hash}`} image={image} isLocked={isLocked} />
            <AliasesField key={`aliases ${hash}`} image={image} isLocked={isLocked} />
            <FocusField key={`focus ${hash}`} image={image} isLocked={isLocked} />
            <NearDuplicates hash={image.hash} />
            <Button
              look="danger"
              icon="trash"
              label={t('images.delete')}
              disabled={isLocked}
              onClick={() => onDelete(image)}
            />
          </div>
        </div>
      )}
    </Dialog>
  )
}
