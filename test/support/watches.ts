import assert from 'node:assert/strict'
import { EventReader } from './event-reader.ts'
import { eventually } from './eventually.ts'
import { call, send, type Fields, type Reply } from './http.ts'
import type { TestService } from './service.ts'

export const WATCHES = '/api/v1/domainwatch/watches'

type Target = Pick<TestService, 'url' | 'domainKey'> & Partial<Pick<TestService, 'newestChange'>>

/** One that begins after everything written until now. */
export async function createWatch(service: Target, fields: Fields, key = service.domainKey): Promise<Reply> {
  // The process that makes it, which gets all requests with this key, must know of all that was written. Whether the key
  // may make one is for the request to show.
  const newest = (await service.newestChange?.()) ?? 0
  if (newest > 0) (await EventReader.open(service, { api: key }).catch(() => undefined))?.close()
  return send(service, WATCHES, fields, { query: { api: key } })
}

/** One that must be made. */
export async function watch(service: Target, fields: Fields, key = service.domainKey) {
  const { status, body, text } = await createWatch(service, { name: 'prueba', ...fields }, key)
  assert.equal(status, 200, text)
  const { id, secret, atom } = Object(body)
  return { id: String(id), secret: String(secret), atom: String(atom) }
}

export function removeWatch(service: Target, id: string, key = service.domainKey): Promise<Reply> {
  return call(service, WATCHES, { method: 'DELETE', query: { api: key, id } })
}

export async function getWatches(
  service: Target,
  key = service.domainKey,
): Promise<Record<string, unknown>[]> {
  const { body } = await call(service, WATCHES, { query: { api: key } })
  return Object(body).data
}

/** Calls one of the operations of a watch: update, rotate, replay. */
export function onWatch(
  service: Target,
  operation: string,
  fields: Fields,
  key = service.domainKey,
): Promise<Reply> {
  return send(service, `${WATCHES}/${operation}`, fields, { query: { api: key } })
}

export function deliveriesOf(service: Target, query: Fields, key = service.domainKey): Promise<Reply> {
  return call(service, `${WATCHES}/deliveries`, { query: { api: key, ...query } })
}

/** What is shown of the deliveries of a watch, newest first, once it is as wanted. */
export async function deliveriesUntil(
  service: Target,
  id: string,
  isSo: (shown: readonly Record<string, unknown>[]) => boolean,
): Promise<Record<string, unknown>[]> {
  let shown: Record<string, unknown>[] = []
  await eventually(
    async () => {
      const { body } = await deliveriesOf(service, { id, limit: 500 })
      shown = Object(body).data
      return isSo(shown)
    },
    () => JSON.stringify(shown),
  )
  return shown
}

/** What is shown of a watch once it is as wanted. */
export async function watchUntil(
  service: Target,
  id: string,
  isSo: (shown: Record<string, unknown>) => boolean,
) {
  let shown: Record<string, unknown> | undefined
  await eventually(
    async () => {
      shown = (await getWatches(service)).find((one) => one['id'] === id)
      return shown !== undefined && isSo(shown)
    },
    () => JSON.stringify(shown),
  )
  assert.ok(shown !== undefined)
  return shown
}
