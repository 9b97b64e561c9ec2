import { useEffect } from 'react'

/** Tell whether a part of the page has work that closing or reloading it would lose. */
const parts = new Set<() => boolean>()

/** Makes the browser ask before the page is left, while `isOpen` returns true. Returns a function that ends it. */
export function guardWork(isOpen: () => boolean): () => void {
  parts.add(isOpen)
  return () => void parts.delete(isOpen)
}

export const hasUnsavedWork = (): boolean => [...parts].some((isOpen) => isOpen())

addEventListener('beforeunload', (event) => {
  if (hasUnsavedWork()) event.preventDefault()
})

/** The same while a field or form of the component has text that is not saved. */
export function useGuard(isUnsaved: boolean): void {
  useEffect(() => (isUnsaved ? guardWork(() => true) : undefined), [isUnsaved])
}
