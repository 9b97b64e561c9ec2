import { setTimeout as pause } from 'node:timers/promises'
import { runStatement } from '../support/postgres.ts'
import type { TwoNodes } from '../support/two-nodes.ts'
import { Asking } from './asking.ts'
import { Domains } from './domains.ts'
import type { Fault } from './faults.ts'
import { Pictures } from './pictures.ts'
import { healed } from './probe.ts'
import { randomFrom } from '../support/random.ts'
import { runTraffic } from './traffic.ts'
import { verify } from './verify.ts'

/** By which a node may be behind what another one wrote: what the database interface promises. */
const LAG_MS = 3_000
/** Undisturbed traffic between two faults: any 5xx in it is a fault of the service. */
const CALM_MS = 1_000

export interface SoakOptions {
  readonly seed: number
  readonly faults: readonly Fault[]
  /** Faults begin until then, and each at least once. Milliseconds. */
  readonly forMs: number
  readonly say: (line: string) => void
}

/** @returns what was wrong; nothing when all that was promised was kept */
export async function soak(place: TwoNodes, { seed, faults, forMs, say }: SoakOptions): Promise<string[]> {
  const asking = new Asking(say)
  const random = randomFrom(seed)
  const imageKeys = [
    await place.newKey('fotos', 'imagestore'),
    await place.newKey('diario', 'imagestore'),
  ] as const
  const domainKey = await place.newKey('grupo', 'domainwatch')
  const pictures = await Pictures.open(asking, LAG_MS)
  const domains = new Domains(asking, domainKey, LAG_MS)
  const urls = place.seats.map(({ url }) => url)

  const stopping = new AbortController()
  await healed(urls, imageKeys[0], domainKey)
  asking.calmSince = performance.now()
  const traffic = runTraffic({ url: place.url, seed, pictures, domains, imageKeys, signal: stopping.signal })
  traffic.catch((error: unknown) => asking.violation(`the traffic ended: ${String(error)}`))

  const start = performance.now()
  for (let turn = 0; turn < faults.length || performance.now() - start < forMs; turn++) {
    // Each once in their order, then by chance.
    const fault = faults[turn < faults.length ? turn : Math.floor(random() * faults.length)]
    if (fault === undefined) break
    await pause(CALM_MS)
    const began = performance.now()
    asking.calmSince = undefined
    try {
      await fault.run(place, asking)
      const ended = performance.now()
      const ms = await healed(urls, imageKeys[0], domainKey)
      say(`${fault.name}: ${Math.round(ended - began)} ms, all well ${Math.round(ms)} ms after it`)
    } catch (error) {
      asking.violation(`${fault.name}: ${String(error)}`)
    }
    // Requests in flight during the fault may still fail.
    await pause(CALM_MS)
    asking.calmSince = performance.now()
    for (const [index, { node }] of place.seats.entries()) {
      if (node === undefined || node.child.exitCode !== null || node.child.signalCode !== null) {
        asking.violation(`node ${index} ended unexpectedly: ${node?.log().slice(-2_000)}`)
      }
    }
    if (asking.violations.length > 20) break
  }
  await pause(CALM_MS)
  stopping.abort()
  await traffic.catch(() => {})
  // From now on nothing is behind any more.
  await pause(LAG_MS)
  for (const url of urls) await verify(url, { asking, domains, pictures })
  const [row] = await runStatement(
    place.postgres.url,
    `SELECT (SELECT count(*) FROM blobs) AS blobs, (SELECT count(*) FROM blob_trash) AS trash,
      (SELECT count(*) FROM images) AS images, (SELECT count(*) FROM domains) AS domains`,
  )
  say(
    `verified ${domains.all.length} groups of domains and ${pictures.all.length} pictures: ${JSON.stringify(row)}`,
  )
  for (const [name, { count, slowestMs }] of [...asking.answers].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    say(`${name}: ${count}, slowest ${Math.round(slowestMs)} ms`)
  }
  return asking.violations
}
