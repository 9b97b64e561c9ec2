import { ApiError, callApi, ConnectionError } from '../../api/client.ts'
import { untilAnswered } from '../../api/retry.ts'
import { keyFor } from '../../api/session.ts'
import { errorMessage } from '../../api/error-message.ts'
import { runOperation } from '../work/operations.ts'
import { t, tn } from '../../i18n/index.ts'
import '../../i18n/texts/images.ts'
import type { ImageRecord } from './record.ts'

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
        ...(key === undefined ? {} : { key }),
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
