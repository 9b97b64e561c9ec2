import { useEffect, useRef, type RefObject } from 'react'

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
