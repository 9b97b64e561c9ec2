import { onKeyRemoved } from '../../api/session.ts'
import { createStore } from '../../base/store.ts'

/** A change of a view that was refused, because other records match by now than the user saw. */
export interface Recount {
  readonly count: number
  /** Changes those. */
  readonly again: () => void
}

export const recount = createStore<Recount | undefined>(undefined)

onKeyRemoved('domainwatch', () => recount.set(undefined))
