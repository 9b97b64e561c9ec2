import { useSyncExternalStore, type RefObject, useEffect, useRef, useState } from 'react'

export interface Store<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  readonly subscribe: (listener: () => void) => () => void
}

/** A value that parts of the page share. */
export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

export function useStore<T>(store: Store<T>): T {
  return useSyncExternalStore(store.subscribe, store.get)
}

/** Whether the component is still shown: for what happens after a response, when the user may have gone elsewhere. */
export function useIsMounted(): RefObject<boolean> {
  const isMounted = useRef(true)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  return isMounted
}

/** Returns a debounced value, undefined before it is stable: for requests that depend on typed text. */
export function useDebounced<T>(value: T, afterMs: number): T | undefined {
  const [debounced, setDebounced] = useState<T>()
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), afterMs)
    return () => clearTimeout(timer)
  }, [value, afterMs])
  return debounced
}

const narrow = matchMedia('(max-width: 760px)')
const medium = matchMedia('(max-width: 1100px)')

/** Whether the screen has the width of a phone: two-line rows, full-screen panels. */
export const useIsNarrow = (): boolean => useMatch(narrow)

/** Whether the screen has no room for rarely used controls. */
export const useIsMedium = (): boolean => useMatch(medium)

function useMatch(query: MediaQueryList): boolean {
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => query.matches,
  )
}
