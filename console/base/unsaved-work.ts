import { useEffect } from 'react'

/** A part of the page that may have work which is not saved. */
interface Part {
  /** Whether closing or reloading the page would lose work. */
  readonly isOpen: () => boolean
  /** Whether signing out would: changes in progress are finished for their author. */
  readonly isLostAtSignOut: () => boolean
}

const parts = new Set<Part>()

/** Asks the user before the page is left or the session ended, while that would lose work. Returns a function that ends it. */
export function guardWork(isOpen: () => boolean, isLostAtSignOut = isOpen): () => void {
  const part = { isOpen, isLostAtSignOut }
  parts.add(part)
  return () => void parts.delete(part)
}

export const hasUnsavedWork = (): boolean => [...parts].some(({ isOpen }) => isOpen())

export const losesWorkAtSignOut = (): boolean => [...parts].some(({ isLostAtSignOut }) => isLostAtSignOut())

addEventListener('beforeunload', (event) => {
  if (hasUnsavedWork()) event.preventDefault()
})

/** The same while a field or form of the component has text that is not saved. */
export function useGuard(isUnsaved: boolean): void {
  useEffect(() => (isUnsaved ? guardWork(() => true) : undefined), [isUnsaved])
}
