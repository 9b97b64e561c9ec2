import { useEffect } from 'react'
import { useStore } from '../../base/store.ts'
import { savedViews, visitView } from './saved-views.ts'

/** Notes when the view at this address is open and when it is left. */
export function useVisit(query: string | undefined): void {
  const { account } = useStore(savedViews)
  useEffect(() => {
    if (query === undefined || account === undefined) return
    visitView(query)
    return () => visitView(query)
  }, [query, account])
}
