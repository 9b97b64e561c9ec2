import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 760px)')
const medium = matchMedia('(max-width: 1100px)')

/** Whether the screen is a phone's: rows of two lines, panels over everything. */
export const useNarrow = (): boolean => useMatch(narrow)

/** Whether the screen has no room for what is useful now and then. */
export const useMedium = (): boolean => useMatch(medium)

function useMatch(query: MediaQueryList): boolean {
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => query.matches,
  )
}
