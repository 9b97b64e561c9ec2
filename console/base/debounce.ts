import { useEffect, useState } from 'react'

/** Returns a debounced value, undefined before it is stable: for requests that depend on typed text. */
export function useDebounced<T>(value: T, afterMs: number): T | undefined {
  const [debounced, setDebounced] = useState<T>()
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), afterMs)
    return () => clearTimeout(timer)
  }, [value, afterMs])
  return debounced
}
