import { useSyncExternalStore } from 'react'

const query = matchMedia('(max-width: 760px)')

/** Whether the screen is a phone's: rows of two lines, panels over everything. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => query.matches,
  )
}
