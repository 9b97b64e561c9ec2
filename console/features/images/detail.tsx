import { useQuery } from '@tanstack/react-query'
import { callApi } from '../../api/client.ts'
import { usePermissions } from '../../api/scope.ts'
import { useShortcuts, takesLetters } from '../../base/shortcuts.ts'
import { Button, IconButton } from '../../design/elements.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { ErrorNotice } from '../../design/notice.tsx'
import type { ImageRecord } from './gallery.ts'
import { AliasesField, FocusField, TagsField } from './image-edits.tsx'
import { NearDuplicates } from './near-duplicates.tsx'
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
  const { data, error, refetch } = useQuery({
    queryKey: ['images', 'get', hash],
    queryFn: async ({ signal }) =>
      (await callApi('GET /api/v1/imagestore/get', { query: { hash }, signal })).data,
  })
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
              <dt>{t('images.kind')}</dt>
              <dd>{image.mime}</dd>
              <dt>{t('images.pixels')}</dt>
              <dd className="figures">
                {count(image.width)} × {count(image.height)}
              </dd>
              <dt>{t('images.size')}</dt>
              <dd className="figures">{bytes(image.size)}</dd>
              <dt>{t('images.date')}</dt>
              <dd>{moment(image.date)}</dd>
              <dt>{t('images.hash')}</dt>
              <dd className="mono">{image.hash}</dd>
              {image.dhash !== '' && (
                <>
                  <dt>{t('images.dhash')}</dt>
                  <dd className="mono">{image.dhash}</dd>
                </>
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
