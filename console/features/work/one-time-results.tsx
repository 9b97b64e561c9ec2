import { Fragment, type ReactNode } from 'react'
import { keyFor, onKeysRemoved, type ServiceName } from '../../api/session.ts'
import { createStore, useStore } from '../../base/store.ts'
import { guardWork } from '../../base/unsaved-work.ts'

type Render = (onClose: () => void) => ReactNode

interface Result {
  readonly id: number
  readonly service: ServiceName
  readonly render: Render
}

const results = createStore<readonly Result[]>([])
let pending = 0
let lastId = 0

// The next user must not see what was made with a key.
onKeysRemoved((services) => results.set(results.get().filter(({ service }) => !services.includes(service))))

guardWork(() => pending > 0 || results.get().length > 0)

/**
 * Sends a request whose response holds something that the service returns only once, and shows it even if the dialog
 * or the screen that sent it was closed in the meantime.
 * @param service the service whose key the request needs
 * @param request resolves to the dialog that shows it; undefined for none
 */
export async function showOnce(
  service: ServiceName,
  request: () => Promise<Render | undefined>,
): Promise<void> {
  const key = keyFor(service)
  pending++
  try {
    const render = await request()
    if (render !== undefined && key === keyFor(service))
      results.set([...results.get(), { id: ++lastId, service, render }])
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
