import { useState } from 'react'
import { onNextUser } from '../../api/scope.ts'
import type { ServiceName } from '../../api/session.ts'
import { useGuard } from '../../base/unsaved-work.ts'

/**
 * Returns a hook for the fields of a form. It keeps what was changed until that is sent or cancelled, also when the form is
 * left by the back button or Escape, or because the key was rejected.
 * @param service the service whose next user must not see it
 */
export function unsentForms<Fields extends object>(service: ServiceName) {
  const unsent = new Map<string, Partial<Fields>>()
  onNextUser(service, () => unsent.clear())
  /** @param subject what the form edits */
  return function useFields(subject: string, initial: Fields) {
    const [changes, setChanges] = useState(() => unsent.get(subject) ?? {})
    const isChanged = Object.keys(changes).length > 0
    useGuard(isChanged)
    return {
      fields: { ...initial, ...changes },
      isChanged,
      set: (change: Partial<Fields>) => {
        const next = { ...changes, ...change }
        unsent.set(subject, next)
        setChanges(next)
      },
      forget: () => void unsent.delete(subject),
    }
  }
}
