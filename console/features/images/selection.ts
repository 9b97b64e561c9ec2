import { useCallback, useRef, useState } from 'react'
import type { ImageRecord } from './gallery.ts'

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
