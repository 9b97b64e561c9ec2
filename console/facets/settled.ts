import { useEffect, useState } from 'react'

/** A value once it has stayed the same for a while, undefined before: what is worth asking for beside what is typed. */
export function useSettled<T>(value: T, afterMs: number): T | undefined {
  const [settled, setSettled] = useState<T>()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs)
    return () => clearTimeout(timer)
  }, [value, afterMs])
  return settled
}
