import { useEffect, useState } from 'react'

/** Returns a debounced value, undefined before it is stable: for requests that depend on typed text. */
export function useSettled<T>(value: T, afterMs: number): T | undefined {
  const [settled, setSettled] = useState<T>()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs)
    return () => clearTimeout(timer)
  }, [value, afterMs])
  return settled
}
