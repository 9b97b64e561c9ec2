import { ApiError, callApi } from '../api/client.ts'
import { untilAnswered } from '../api/retry.ts'
import { keyFor } from '../api/session.ts'
import { errorMessage } from '../app/error-message.ts'
import { runOperation } from '../app/operations.ts'
import { t, tn } from '../i18n/index.ts'
import '../i18n/texts/images.ts'
import type { ImageRecord } from './record.ts'

export const subjectOf = ({ hash }: Pick<ImageRecord, 'hash'>): string => `image:${hash}`

/** Deletes images one after the other; a failure does not affect the others. */
export function deleteImages(
  images: readonly ImageRecord[],
  settled: (gone: readonly ImageRecord[], kept: readonly ImageRecord[]) => void,
): void {
  const key = keyFor('imagestore')
  const gone: ImageRecord[] = []
  const reasons: string[] = []
  const progress = () => t('images.deleting', { n: gone.length, all: images.length })
  const kept = () => images.filter((image) => !gone.includes(image))
  runOperation({
    subjects: images.map(subjectOf),
    pending: progress(),
    failed: (reason) => reason,
    onFailed: () => settled(gone, kept()),
    async run(tell) {
      for (const image of images) {
        tell(progress())
        try {
          await untilAnswered(
            () => remove(image.hash, key),
            () => tell(t('operation.held', { text: progress() })),
          )
          gone.push(image)
        } catch (error) {
          reasons.push(t('images.deleteFailed', { name: image.name, msg: errorMessage(error) }))
        }
      }
      const done = gone.length > 0 ? [tn('images.deleted', gone.length)] : []
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

async function remove(hash: string, key: string | undefined): Promise<void> {
  try {
    await callApi('POST /api/v1/imagestore/delete', {
      query: { hash },
      ...(key === undefined ? {} : { key }),
    })
  } catch (error) {
    // It was deleted by someone else already.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
}
