import { useState, Fragment, type ReactNode } from 'react'
import { useGuard, guardWork } from '../../base/unsaved-work.ts'
import { createStore, useStore } from '../../base/store.ts'

/**
 * Returns a hook for the fields of a form. It keeps what was changed until that is sent or cancelled, also when the form is
 * left by the back button or Escape, or because the key was rejected.
 */
export function unsentForms<Fields extends object>() {
  const unsent = new Map<string, Partial<Fields>>()
  /** @param subject what the form edits */
  return function useFields(subject: string, initial: Fields) {
    const [changes, setChanges] = useState(() => unsent.get(subject) ?? {})
    const isChanged = Object.keys(changes).length > 0
    useGuard(isChanged)
    const fields = { ...initial, ...changes }
    const set = (change: Partial<Fields>) => {
      const next = { ...changes, ...change }
      unsent.set(subject, next)
      setChanges(next)
    }
    return {
      fields,
      isChanged,
      set,
      /** The value of a field, and what changes it. */
      bind: <Name extends keyof Fields>(name: Name) => ({
        value: fields[name],
        onChange: (value: Fields[Name]) => {
          const change: Partial<Fields> = {}
          change[name] = value
          set(change)
        },
      }),
      forget: () => void unsent.delete(subject),
    }
  }
}

type Render = (onClose: () => void) => ReactNode

interface Result {
  readonly id: number
  readonly render: Render
}

const results = createStore<readonly Result[]>([])
let pending = 0
let lastId = 0

guardWork(() => pending > 0 || results.get().length > 0)

/**
 * Sends a request whose response holds something that the service returns only once, and shows it even if the dialog
 * or the screen that sent it was closed in the meantime.
 * @param request resolves to the dialog that shows it; undefined for none
 */
export async function showOnce(request: () => Promise<Render | undefined>): Promise<void> {
  pending++
  try {
    const render = await request()
    if (render !== undefined) results.set([...results.get(), { id: ++lastId, render }])
  } finally {
    pending--
  }
}

/** The results that the user has not acknowledged yet. */
export function OneTimeResults() {
  return useStore(results).map(({ id, render }) => (
    <Fragment key={id}>{render(() => results.set(results.get().filter((one) => one.id !== id)))}</Fragment>
  ))
}
