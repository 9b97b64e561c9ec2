import { Agent, get } from 'node:http'
import type { Sample } from './compare.ts'
import { cpuMicros, cpuSeconds } from './machine.ts'
import { SECONDS } from './options.ts'

/** Timeout of a turn. */
const TURN_MS = 30_000

const agent = new Agent({ keepAlive: true })

/** Counts across turns, so that each uses different sources. */
let turn = 0

/** Runs `work` in `count` concurrent lanes, each time with another number. `pid` is the measured process. */
export async function lanes(
  count: number,
  pid: number,
  work: (i: number) => Promise<unknown>,
): Promise<Sample> {
  const start = performance.now()
  const cpu = cpuSeconds(pid)
  let done = 0
  const all = Array.from({ length: count }, async () => {
    do {
      await work(turn++)
      done++
    } while (performance.now() - start < SECONDS * 1_000)
  })
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${done} done in ${TURN_MS / 1_000} s`)), TURN_MS)
  try {
    await Promise.race([Promise.all(all), late.promise])
  } finally {
    clearTimeout(timer)
  }
  const perSecond = (done * 1_000) / (performance.now() - start)
  return { perSecond, cpuMicros: cpuMicros(cpu, cpuSeconds(pid), done) }
}

/** Fetches an image with as little CPU time as possible. Rejects unless the response is one. */
export function fetched(url: string): Promise<void> {
  // A server may close an idle connection just when the next turn reuses it.
  return fetchOnce(url).catch(() => fetchOnce(url))
}

function fetchOnce(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { agent, timeout: TURN_MS }, (response) => {
      let size = 0
      response.on('data', (chunk: Buffer) => (size += chunk.length))
      response.on('error', reject)
      response.on('end', () => {
        const isImage = response.headers['content-type']?.startsWith('image/') === true
        if (response.statusCode === 200 && isImage && size > 0) resolve()
        else reject(new Error(`${response.statusCode} from ${url}`))
      })
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error('the request timed out')))
  })
}
