import { useSyncExternalStore } from 'react'

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
