import { useCallback, useRef, useState } from 'react'
import { type ImageRecord, linkOf, toSubject } from './gallery.tsx'
import { Button } from '../../design/elements.tsx'
import { CopyButton } from '../../design/buttons.tsx'
import { t, tn } from '../../i18n/index.ts'
import { BanDialog } from './gallery-menu.tsx'
import { Thumb } from './grid.tsx'
import { ConfirmDialog } from '../../design/dialog.tsx'
import { ApiError, callApi, ConnectionError } from '../../api/client.ts'
import { errorMessage } from '../../api/error-message.ts'
import { queryClient } from '../../api/query-client.ts'
import { untilAnswered } from '../../api/retry.ts'
import { runOperation, type OperationSpec } from '../work/operations.ts'
import '../../i18n/texts/images.ts'

export interface ImageSelection {
  /** By hash, because tiles may move. */
  readonly selected: ReadonlyMap<string, ImageRecord>
  /** Toggles an image; a range adds all from the last one toggled to this one. */
  readonly toggle: (image: ImageRecord, isRange: boolean) => void
  readonly add: (images: readonly ImageRecord[]) => void
  readonly drop: (images: readonly ImageRecord[]) => void
  readonly clear: () => void
}

const byHash = (images: readonly ImageRecord[]): ReadonlyMap<string, ImageRecord> =>
  new Map(images.map((image) => [image.hash, image]))

/** The selected images of a gallery, whose order defines ranges. */
export function useImageSelection(images: readonly ImageRecord[]): ImageSelection {
  const [selected, setSelected] = useState(() => byHash([]))
  const pivot = useRef<string>(undefined)
  const shown = useRef(images)
  shown.current = images
  const toggle = useCallback((image: ImageRecord, isRange: boolean) => {
    const placeOf = (wanted: string | undefined) => shown.current.findIndex(({ hash }) => hash === wanted)
    const [from, to] = [placeOf(pivot.current), placeOf(image.hash)]
    if (isRange && from >= 0 && to >= 0) {
      const range = shown.current.slice(Math.min(from, to), Math.max(from, to) + 1)
      setSelected((old) => new Map([...old, ...byHash(range)]))
      return
    }
    pivot.current = image.hash
    setSelected((old) => {
      const next = new Map(old)
      if (!next.delete(image.hash)) next.set(image.hash, image)
      return next
    })
  }, [])
  const add = useCallback(
    (more: readonly ImageRecord[]) => setSelected((old) => new Map([...old, ...byHash(more)])),
    [],
  )
  const clear = useCallback(() => setSelected(byHash([])), [])
  const drop = useCallback((gone: readonly ImageRecord[]) => {
    const hashes = byHash(gone)
    setSelected((old) => new Map([...old].filter(([hash]) => !hashes.has(hash))))
  }, [])
  return { selected, toggle, add, drop, clear }
}

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
          label={t('domains.takeBack')}
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
      {images.length > SHOWN && <p className="muted">{t('domains.andMore', { n: images.length - SHOWN })}</p>}
    </ConfirmDialog>
  )
}

/** Where images go: into the trash, back from it, or away permanently. */
export type Move = 'trash' | 'restore' | 'delete'

type Settled = (moved: readonly ImageRecord[], left: readonly ImageRecord[]) => void

const OPPOSITES = { trash: 'restore', restore: 'trash', delete: undefined } as const

/** Moves images one after the other; a failure does not affect the others. */
export function moveImages(move: Move, images: readonly ImageRecord[], settled: Settled): void {
  runOperation(toOperation(move, images, settled))
}

function toOperation(move: Move, images: readonly ImageRecord[], settled: Settled): OperationSpec {
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
    subjects: images.map(toSubject),
    pending: progress(),
    failed: (reason) => reason,
    onFailed: end,
    async run({ tell }) {
      for (const image of images) {
        tell(progress())
        try {
          const wasThere = await send(move, image.hash, () => tell(t('operation.held', { text: progress() })))
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
async function send(move: Move, hash: string, onWait: () => void): Promise<boolean> {
  let isAgain = false
  return untilAnswered(async () => {
    try {
      if (move === 'delete') await callApi('POST /api/v1/imagestore/delete', { body: { hash } })
      else {
        const restore = move === 'restore' ? '1' : '0'
        await callApi('POST /api/v1/imagestore/trash', { body: { hash, restore } })
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
