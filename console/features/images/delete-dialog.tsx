import { ApiError, callApi, ConnectionError } from '../../api/client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { untilAnswered } from '../../api/retry.ts'
import { keyFor } from '../../api/session.ts'
import { type ImageRecord, thumbOf } from './gallery.ts'
import { runOperation } from '../work/operations.ts'
import { t, tn } from '../../i18n/index.ts'
import { ConfirmDialog } from '../../design/dialog.tsx'
import './delete-dialog.css'
import '../../i18n/texts/images.ts'

const SHOWN = 8

/** Asks for confirmation. */
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
      action={t('images.delete')}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <ul className="delete-pictures chips">
        {images.slice(0, SHOWN).map((image) => (
          <li key={image.hash}>
            <img src={thumbOf(image, 72)} alt={image.name} />
          </li>
        ))}
      </ul>
      {images.length === 1 && <p className="delete-name">{images[0]?.name}</p>}
      {images.length > SHOWN && <p className="muted">{t('images.andMore', { n: images.length - SHOWN })}</p>}
    </ConfirmDialog>
  )
}

export const subjectOf = ({ hash }: Pick<ImageRecord, 'hash'>): string => `image:${hash}`

/** Deletes images one after the other; a failure does not affect the others. */
export function deleteImages(
  images: readonly ImageRecord[],
  settled: (gone: readonly ImageRecord[], kept: readonly ImageRecord[]) => void,
): void {
  const key = keyFor('imagestore')
  /** Those that are no longer there, deleted here or by others. */
  const gone: ImageRecord[] = []
  let missing = 0
  const reasons: string[] = []
  const progress = () => t('images.deleting', { n: gone.length, all: images.length })
  const kept = () => images.filter((image) => !gone.includes(image))
  runOperation({
    service: 'imagestore',
    subjects: images.map(subjectOf),
    pending: progress(),
    failed: (reason) => reason,
    onFailed: () => settled(gone, kept()),
    async run(tell) {
      for (const image of images) {
        tell(progress())
        try {
          const wasThere = await remove(image.hash, key, () =>
            tell(t('operation.held', { text: progress() })),
          )
          if (!wasThere) missing++
          gone.push(image)
        } catch (error) {
          reasons.push(t('images.deleteFailed', { name: image.name, msg: errorMessage(error) }))
        }
      }
      const deleted = gone.length - missing
      const done = [
        ...(deleted > 0 ? [tn('images.deleted', deleted)] : []),
        ...(missing > 0 ? [tn('images.wereDeleted', missing)] : []),
      ]
      const [reason, ...more] = reasons
      const failures = [
        ...(reason === undefined ? [] : [reason]),
        ...(more.length > 0 ? [t('images.andMore', { n: more.length })] : []),
      ]
      settled(gone, kept())
      return { text: [...done, ...failures].join('. '), isError: reasons.length > 0 }
    },
  })
}

/** Returns whether the image was still there. */
async function remove(hash: string, key: string | undefined, onWait: () => void): Promise<boolean> {
  let isAgain = false
  return untilAnswered(async () => {
    try {
      await callApi('POST /api/v1/imagestore/delete', {
        query: { hash },
        key,
      })
      return true
    } catch (error) {
      // A proxy that does not find the service says 404, too.
      if (error instanceof ApiError && error.code === 'image_not_found') return isAgain
      isAgain ||= error instanceof ConnectionError
      throw error
    }
  }, onWait)
}
