import { localNow } from '../../base/server.ts'
import { onNextUser } from '../../api/scope.ts'
import { createStore } from '../../base/store.ts'
import { guardWork } from '../../base/unsaved-work.ts'
import type { CommonValues } from './add-names.ts'

/** What the user has entered and not added yet: it survives a visit of another screen. */
interface Draft {
  readonly text: string
  readonly facts: CommonValues
}

const emptyDraft = (): Draft => ({ text: '', facts: { status: 0, reserve: 0, date: localNow(), agent: '' } })

export const draft = createStore<Draft>(emptyDraft())

let hasNewNames = false

guardWork(() => hasNewNames)

/** Notes whether it has names that are still to be added, also for the time after the screen was left. */
export function noteNewNames(has: boolean): void {
  hasNewNames = has
}

onNextUser('domainwatch', () => {
  hasNewNames = false
  draft.set(emptyDraft())
})

/** Called when the screen opens: a draft without names has the time and the choices of an earlier visit. */
export function renewDraft(): void {
  if (draft.get().text === '') draft.set(emptyDraft())
}
