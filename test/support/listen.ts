import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:net'

/** Listens on a free port. @returns the port */
export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}
