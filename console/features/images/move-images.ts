import { ApiError, callApi, ConnectionError } from '../../api/client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { queryClient } from '../../api/query-client.ts'
import { untilAnswered } from '../../api/retry.ts'
import { keyFor } from '../../api/session.ts'
import { t, tn } from '../../i18n/index.ts'
import '../../i18n/texts/images.ts'
import { runOperation, type OperationSpec } from '../work/operations.ts'
import type { ImageRecord } from './gallery.tsx'

/** Where images go: into the trash, back from it, or away permanently. */
export type Move = 'trash' | 'restore' | 'delete'

type Settled = (moved: readonly ImageRecord[], left: readonly ImageRecord[]) => void

const OPPOSITES = { trash: 'restore', restore: 'trash', delete: undefined } as const

export const toSubject = ({ hash }: Pick<ImageRecord, 'hash'>): string => `image:${hash}`

/** Moves images one after the other; a failure does not affect the others. */
export function moveImages(move: Move, images: readonly ImageRecord[], settled: Settled): void {
  runOperation(toOperation(move, images, settled))
}

function toOperation(move: Move, images: readonly ImageRecord[], settled: Settled): OperationSpec {
  const key = keyFor('imagestore')
  const moved: ImageRecord[] = []
  /** Those that are no longer there: others deleted them. */
  const missing: ImageRecord[] = []
  const reasons: string[] = []
  const progress = () => t(`images.${move}.doing`, { n: moved.length + missing.length, all: images.length })
  const end = () => {
    const gone = [...moved, ...missing]
    void queryClient.invalidateQueries({ queryKey: ['images'] })
    settled(
      gone,
      images.filter((image) => !gone.includes(image)),
    )
  }
  const opposite = OPPOSITES[move]
  return {
    service: 'imagestore',
    subjects: images.map(toSubject),
    pending: progress(),
    failed: (reason) => reason,
    onFailed: end,
    async run(tell) {
      for (const image of images) {
        tell(progress())
        try {
          const wasThere = await send(move, image.hash, key, () =>
            tell(t('operation.held', { text: progress() })),
          )
          ;(wasThere ? moved : missing).push(image)
        } catch (error) {
          reasons.push(t(`images.${move}.failed`, { name: image.name, msg: errorMessage(error) }))
        }
      }
      end()
      const [reason, ...more] = reasons
      const sentences = [
        moved.length > 0 && tn(`images.${move}.done`, moved.length),
        missing.length > 0 && tn('images.wereDeleted', missing.length),
        reason,
        more.length > 0 && t('domains.andMore', { n: more.length }),
      ]
      return { text: sentences.filter(Boolean).join('. '), isError: reasons.length > 0 }
    },
    ...(opposite !== undefined && { undo: () => toOperation(opposite, moved, () => undefined) }),
  }
}

/** Returns whether the image was still there. */
async function send(move: Move, hash: string, key: string | undefined, onWait: () => void): Promise<boolean> {
  let isAgain = false
  return untilAnswered(async () => {
    try {
      if (move === 'delete') await callApi('POST /api/v1/imagestore/delete', { body: { hash }, key })
      else {
        const restore = move === 'restore' ? '1' : '0'
        await callApi('POST /api/v1/imagestore/trash', { body: { hash, restore }, key })
      }
      return true
    } catch (error) {
      // A proxy that does not find the service says 404, too.
      if (error instanceof ApiError && error.code === 'image_not_found') return isAgain && move === 'delete'
      isAgain ||= error instanceof ConnectionError
      throw error
    }
  }, onWait)
}
