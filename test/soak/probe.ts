import { setTimeout as pause } from 'node:timers/promises'
import { expectedHash, gradient, stamped } from '../support/images.ts'

/** Maximum time from the end of a fault until every node has recovered. */
const HEAL_MS = 30_000
const PROBE_TIMEOUT_MS = 5_000

const picture = await gradient(12, 9).png().toBuffer()
let turn = 0

/**
 * Waits until every node does each kind of request.
 * @returns how long that took, in milliseconds
 * @throws when it takes too long
 */
export async function healed(nodes: readonly string[], imageKey: string, domainKey: string): Promise<number> {
  const start = performance.now()
  for (const node of nodes) {
    for (;;) {
      const failure = await oneOfEach(node, imageKey, domainKey).then(
        () => undefined,
        (error: unknown) => String(error),
      )
      if (failure === undefined) break
      if (performance.now() - start > HEAL_MS) throw new Error(`not well after ${HEAL_MS} ms: ${failure}`)
      await pause(100)
    }
  }
  return performance.now() - start
}

async function oneOfEach(node: string, imageKey: string, domainKey: string): Promise<void> {
  const bytes = stamped(picture, `probe ${turn++}`)
  const hash = expectedHash(bytes)
  const domain = `probe${turn}`
  const record = { domain, length: domain.length, reserve: 0, status: 1, date_reg: '2026-01-02 03:04:05' }
  const images = `${node}/api/v1/imagestore`
  const domains = `${node}/api/v1/domainwatch`
  const info = { name: 'probe', mime: 'image/png', ip: '192.0.2.1' }
  await good(`${node}/readyz`)
  await good(`${images}/upload?api=${imageKey}`, { image: bytes.toString('base64'), info })
  await good(`${images}/get?api=${imageKey}&hash=${hash}`)
  await good(`${node}/i/${hash}`)
  await good(`${node}/i/${hash}?m=w_5`)
  await good(`${domains}/add?api=${domainKey}`, { data: [record] })
  await good(`${domains}/update?api=${domainKey}`, { data: [{ domain, revision: 1 }] })
  await good(`${domains}/list?api=${domainKey}&search=${domain}`)
  await good(`${images}/delete?api=${imageKey}`, { hash })
}

async function good(url: string, body?: object): Promise<void> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    ...(body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (response.status !== 200)
    throw new Error(`${url.replace(/api=\w+/, 'api=')}: ${response.status} ${text.slice(0, 200)}`)
}
