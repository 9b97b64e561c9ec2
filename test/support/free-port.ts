import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below those that a system gives to whoever takes any: no connection gets one of these before it is listened on. */
const FIRST = 12_000
const END = 32_000
const MOST_TRIES = 100

/** A port that nobody listens on, for a program that has to be told one. */
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
