import { useEffect, useState } from 'react'
import { thumbHashToAverageRGBA, thumbHashToDataURL } from 'thumbhash'
import { connection } from '../../api/connection.ts'
import { useStore } from '../../base/store.ts'
import { Icon } from '../../design/elements.tsx'
import { type ImageRecord, thumbOf } from './gallery.tsx'

/** Pauses before an image is requested again: the line may have broken, or the service been busy with other images. */
const RETRY_MS = [1_000, 4_000, 15_000] as const

type State = 'loading' | 'loaded' | 'broken'

/** Browsers fetch images to their end that were removed: on a slow line, those in sight would wait for them. */
const cancelOnRemoval = (image: HTMLImageElement) => () => image.removeAttribute('src')

/** An image of the gallery: its blurred placeholder, then the image over it. */
export function Thumb({ image, height }: { image: ImageRecord; height: number }) {
  const [state, setState] = useState<State>('loading')
  // Links of the trash are only in the browser's cache.
  const isInTrash = image.trashed_at !== undefined
  useRetries(isInTrash ? 'loaded' : state, () => setState('loading'))
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

/** Retries a broken image a few times, and as often again after each loss of the connection. */
function useRetries(state: State, retry: () => void): void {
  const [failures, setFailures] = useState(0)
  const line = useStore(connection)
  useEffect(() => {
    if (line === 'lost') setFailures(0)
  }, [line])
  useEffect(() => {
    const wait = RETRY_MS[failures]
    if (state !== 'broken' || line === 'lost' || wait === undefined) return
    const timer = setTimeout(() => {
      setFailures(failures + 1)
      retry()
    }, wait)
    return () => clearTimeout(timer)
  }, [state, failures, line])
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
