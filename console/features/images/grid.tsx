import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useIsNarrow, useStore } from '../../base/store.ts'
import { usePendingSubjects } from '../work/operations.ts'
import { t, tn } from '../../i18n/index.ts'
import { justifiedRows } from './justified-rows.ts'
import { trashDaysLeft, type ImageRecord, thumbOf, toSubject } from './gallery.tsx'
import { thumbHashToAverageRGBA, thumbHashToDataURL } from 'thumbhash'
import { connection } from '../../api/connection.ts'
import { Icon } from '../../design/elements.tsx'

const GAP = 6

interface Props {
  readonly images: readonly ImageRecord[]
  readonly selected: ReadonlyMap<string, ImageRecord>
  readonly actions: {
    readonly open: (image: ImageRecord) => void
    readonly toggle: (image: ImageRecord, isRange: boolean) => void
  }
  /** Called when the last rows become visible. */
  readonly onEnd: () => void
}

/** Renders only visible rows. */
export function Grid({ images, selected, actions, onEnd }: Props) {
  const isNarrow = useIsNarrow()
  const pending = usePendingSubjects()
  const box = useRef<HTMLDivElement>(null)
  const [{ width, top }, setPlace] = useState({ width: 0, top: 0 })
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const measure = () => setPlace({ width: element.clientWidth, top: element.offsetTop })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    if (element.parentElement !== null) observer.observe(element.parentElement)
    return () => observer.disconnect()
  }, [])
  const rows = useMemo(
    () => (width === 0 ? [] : justifiedRows(images, width, isNarrow ? 130 : 210, GAP)),
    [images, width, isNarrow],
  )
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (index) => (rows[index]?.height ?? 0) + GAP,
    overscan: 3,
    scrollMargin: top,
  })
  useEffect(() => virtualizer.measure(), [rows, virtualizer])
  const items = virtualizer.getVirtualItems()
  const isAtEnd = rows.length > 0 && (items.at(-1)?.index ?? 0) >= rows.length - 2
  useEffect(() => {
    if (isAtEnd) onEnd()
  }, [isAtEnd, onEnd])
  return (
    <div
      ref={box}
      className="gallery"
      role="list"
      aria-label={t('images.gallery')}
      style={{ height: virtualizer.getTotalSize() }}
    >
      {items.flatMap((item) => {
        const row = rows[item.index]
        return (row?.items ?? []).map(({ item: image, left, width: wide }) => {
          const isOn = selected.has(image.hash)
          const isGoing = pending.has(toSubject(image))
          const place = {
            transform: `translate(${left}px, ${item.start - top}px)`,
            width: wide,
            height: row?.height,
          }
          return (
            <div
              key={image.hash}
              role="listitem"
              className={`tile${isOn ? ' on' : ''}${isGoing ? ' going' : ''}`}
              aria-busy={isGoing}
              style={place}
            >
              <button
                type="button"
                className="tile-open"
                onClick={({ shiftKey, metaKey, ctrlKey }) => {
                  if (shiftKey || metaKey || ctrlKey) actions.toggle(image, shiftKey)
                  else actions.open(image)
                }}
              >
                <Thumb image={image} height={row?.height ?? 0} />
                {(image.duplicates ?? 0) > 0 && (
                  <span className="tile-count figures">
                    <span aria-hidden="true">+{image.duplicates}</span>
                    <span className="visually-hidden">{tn('images.duplicates', image.duplicates ?? 0)}</span>
                  </span>
                )}
              </button>
              <label className="tile-pick">
                <input
                  type="checkbox"
                  checked={isOn}
                  aria-label={t('images.choose', { name: image.name })}
                  readOnly
                  onClick={(event) => actions.toggle(image, event.shiftKey)}
                />
              </label>
              <span className={`tile-name ellipsis${image.trashed_at === undefined ? '' : ' shown'}`}>
                <span aria-hidden="true">{image.name}</span>
                {image.trashed_at !== undefined &&
                  ` · ${tn('images.trashLeft', trashDaysLeft(image.trashed_at))}`}
              </span>
            </div>
          )
        })
      })}
    </div>
  )
}

/** Browsers fetch images to their end that were removed: on a slow line, those in sight would wait for them. */
const cancelOnRemoval = (image: HTMLImageElement) => () => image.removeAttribute('src')

/** An image of the gallery: its blurred placeholder, then the image over it. */
export function Thumb({ image, height }: { image: ImageRecord; height: number }) {
  const [state, setState] = useState<'loading' | 'loaded' | 'broken'>('loading')
  // Links of the trash are only in the browser's cache.
  const isInTrash = image.trashed_at !== undefined
  const line = useStore(connection)
  useEffect(() => {
    if (line === 'reached') setState((now) => (now === 'broken' ? 'loading' : now))
  }, [line])
  if (state === 'broken' && (!isInTrash || image.thumbhash === null)) {
    return (
      <span className="tile-broken">
        <Icon name="images" />
        <span>{image.name}</span>
      </span>
    )
  }
  const placeholder = placeholderOf(image.thumbhash)
  const isBehind = placeholder !== undefined && (state !== 'loaded' || !placeholder.isSeeThrough)
  return (
    <span
      className={placeholder === undefined ? 'thumb' : 'thumb blurred'}
      style={isBehind ? { backgroundImage: `url("${placeholder.url}")` } : {}}
    >
      <img
        ref={cancelOnRemoval}
        className={state === 'loaded' ? 'loaded' : ''}
        src={thumbOf(image, height)}
        alt={image.name}
        decoding="async"
        draggable={false}
        onLoad={() => setState('loaded')}
        onError={() => setState('broken')}
      />
    </span>
  )
}

export interface Placeholder {
  /** Returns a `data:` URL of a blurred image with some 32 pixels per side. */
  readonly url: string
  /** Not for transparent images, behind which it would show. */
  readonly isSeeThrough: boolean
}

const MAX_KEPT = 2_000
const kept = new Map<string, Placeholder | undefined>()

/** The placeholder of an image; undefined without a ThumbHash. */
function placeholderOf(thumbhash: string | null): Placeholder | undefined {
  if (thumbhash === null) return undefined
  if (!kept.has(thumbhash)) {
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(thumbhash, drawn(thumbhash))
  }
  return kept.get(thumbhash)
}

function drawn(thumbhash: string): Placeholder | undefined {
  try {
    const hash = Uint8Array.from(atob(thumbhash), (character) => character.charCodeAt(0))
    return { url: thumbHashToDataURL(hash), isSeeThrough: thumbHashToAverageRGBA(hash).a < 1 }
  } catch {
    // An image without a placeholder is better than an error.
    return undefined
  }
}
