import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral ports, so that no connection takes one before it is listened on. */
const FIRST = 12_000
const END = 32_000
const MOST_TRIES = 100

/** Returns a free port, for a program that needs a fixed one. */
export async function freePort(address = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const port = randomInt(FIRST, END)
    const probe = createServer().listen(port, address)
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    probe.close()
    await once(probe, 'close')
    return port
  }
  throw new Error(`no port is free on ${address}`)
}
