import { useEffect, useRef } from 'react'
import type { IconName } from './elements.tsx'

/** Something that the shown screen can do. The command palette lists it. */
export interface Action {
  readonly id: string
  readonly label: string
  /** Other words that people look for it by. */
  readonly also?: string
  readonly icon: IconName
  /** The single key that does the same. */
  readonly key?: string
  /** Listed after all others, so that nobody runs it by mistake. */
  readonly isLast?: boolean
  readonly run: () => void
}

const sources = new Set<() => readonly Action[]>()

/** Offers actions for as long as the component is mounted. `read` is called when they are listed. */
export function useActions(read: () => readonly Action[]): void {
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    const source = () => latest.current()
    sources.add(source)
    return () => void sources.delete(source)
  }, [])
}

export const currentActions = (): readonly Action[] =>
  [...sources]
    .flatMap((source) => source())
    .sort((one, other) => Number(one.isLast ?? false) - Number(other.isLast ?? false))
