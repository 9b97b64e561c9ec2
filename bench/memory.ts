/**
 * Measures the memory of the service and its decoding processes. First under clients that request different sources
 * of 12 megapixels; the floor is the library alone doing the same. Then during concurrent decompression bombs, with
 * the latency of usual requests meanwhile.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { bombs } from './lib/bombs.ts'
import { formatPeak, watchMemory, type Peak } from './lib/memory.ts'
import { SECONDS } from './lib/options.ts'
import { photo, stamp, UploadBody } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { startService, type Service } from './lib/service.ts'
import { uploadMany } from './lib/uploads.ts'
import { withWorkspace } from './lib/workspace.ts'

const CLIENTS = 16
const SOURCES = 24
const [WIDTH, HEIGHT] = [4243, 2828]
const BOMBS = 16
const MIB = 1024 * 1024
const AIM = 250 * MIB
const BOMBED_AIM = 1_500 * MIB
const SLOWEST_AIM_MS = 2_000
/** Longer than the turns of speed benchmarks, as the memory of processes grows at first. */
const LOAD_MS = SECONDS * 10_000
const TIMEOUT_MS = 120_000

/** Concurrent jobs of the library alone. They run this file in another process. */
const JOBS = 2

async function alone(jpeg: Buffer): Promise<void> {
  sharp.concurrency(1)
  sharp.cache(false)
  const end = performance.now() + LOAD_MS
  await Promise.all(
    Array.from({ length: JOBS }, async (_, lane) => {
      for (let i = lane; performance.now() < end; i += JOBS) {
        const source = Buffer.from(stamp(jpeg, i % SOURCES))
        await sharp(source).autoOrient().resize(512, 512, { fit: 'inside' }).jpeg({ quality: 80 }).toBuffer()
      }
    }),
  )
}

async function measureAlone(photograph: string): Promise<Peak> {
  const child = fork(fileURLToPath(import.meta.url), ['--seconds', String(SECONDS)], {
    env: { MALLOC_ARENA_MAX: '2', ALONE: photograph, PATH: process.env['PATH'] },
  })
  const peak = watchMemory(child.pid ?? 0)
  await once(child, 'exit')
  return peak()
}

async function fetched(url: string): Promise<number> {
  const began = performance.now()
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  await response.arrayBuffer()
  if (!response.ok) throw new Error(`${response.status} from ${url}`)
  return performance.now() - began
}

/** Each client requests different sources until the time is over. */
async function underLoad(service: Service, hashes: readonly string[]): Promise<number> {
  let [next, done] = [0, 0]
  const end = performance.now() + LOAD_MS
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (performance.now() < end) {
        const hash = hashes[next++ % hashes.length]
        // Another width for each request, so that none is served from the cache.
        await fetched(`${service.url}/i/${hash}&m=w_${400 + (next % 200)},f_jpg,q_80`)
        done++
      }
    }),
  )
  return done
}

/** Sends usual requests sequentially until `work` settles. Returns the slowest of each kind, in milliseconds. */
async function usualMeanwhile(service: Service, hash: string, work: Promise<unknown>) {
  const slowest = new Map<string, number>()
  let [going, turns] = [true, 0]
  const ended = work.finally(() => (going = false))
  const small = new UploadBody(await photo(1_200, 800))
  const kinds: Record<string, () => Promise<unknown>> = {
    '`/healthz`': () => fetched(`${service.url}/healthz`),
    'a cached link': () => fetched(`${service.url}/i/${hash}`),
    'a derivative': () => fetched(`${service.url}/i/${hash}&m=w_${100 + (turns++ % 900)}`),
    'an upload of 1 megapixel': () =>
      post(service.endpoint('imagestore/upload'), small.contentType, small.next()),
  }
  await Promise.all(
    Object.entries(kinds).map(async ([kind, request]) => {
      while (going) {
        const began = performance.now()
        await request()
        slowest.set(kind, Math.max(slowest.get(kind) ?? 0, performance.now() - began))
      }
    }),
  )
  await ended
  return slowest
}

const verdict = (value: number, aim: number, text: string) =>
  `at most ${text}: ${value <= aim ? 'met' : 'missed'}`

async function main(): Promise<void> {
  await withWorkspace(async (workspace) => {
    const jpeg = await photo(WIDTH, HEIGHT)
    const photograph = join(workspace.folder, 'photo.jpg')
    await writeFile(photograph, jpeg)
    const first = await startService(workspace, { core: 'any' })
    const filling = watchMemory(first.pid)
    const hashes = await uploadMany(first, jpeg, SOURCES)
    const filled = filling()
    await first.stop()
    const service = await startService(workspace, { existing: first, core: 'any' })
    const idle = watchMemory(service.pid)()
    const loaded = watchMemory(service.pid)
    const done = await underLoad(service, hashes)
    const peak = loaded()
    const floor = await measureAlone(photograph)
    console.log(`\n### Memory under ${CLIENTS} clients, different sources of 12 megapixels\n`)
    console.log(`- the library alone, ${JOBS} jobs: ${formatPeak(floor)}`)
    console.log(`- the service while ${SOURCES} of them are uploaded, 8 at a time: ${formatPeak(filled)}`)
    console.log(`- the idle service: ${formatPeak(idle)}`)
    console.log(
      `- the service, ${Math.round((done * 1000) / LOAD_MS)} requests per second: ${formatPeak(peak)}`,
    )
    console.log(`- ${verdict(peak.rss, AIM, '250 MiB resident')}; PSS ${verdict(peak.pss, AIM, '250 MiB')}`)
  })
  await withWorkspace(async (workspace) => {
    const service = await startService(workspace, { core: 'any' })
    const [hash = ''] = await uploadMany(service, await photo(1_600, 1_067), 1)
    const files = await bombs(BOMBS)
    const counts = new Map<string, number>()
    const began = performance.now()
    const bombed = watchMemory(service.pid)
    const work = files.map(async ({ name, body }) => {
      const response = await fetch(service.endpoint('imagestore/upload'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await response.arrayBuffer()
      const key = `${name}: ${response.status}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    })
    const slowest = await usualMeanwhile(service, hash, Promise.all(work))
    const peak = bombed()
    console.log(
      `\n### ${BOMBS} concurrent bombs, done after ${Math.round((performance.now() - began) / 1000)} s\n`,
    )
    for (const line of [...counts].map(([outcome, count]) => `- ${outcome}, ${count} times`).sort())
      console.log(line)
    console.log(`- ${formatPeak(peak)}: ${verdict(peak.rss, BOMBED_AIM, '1,500 MiB')}`)
    for (const [kind, ms] of slowest)
      console.log(
        `- the slowest of ${kind} meanwhile: ${Math.round(ms)} ms, ${verdict(ms, SLOWEST_AIM_MS, '2 s')}`,
      )
  })
}

const photograph = process.env['ALONE']
if (photograph === undefined) await main()
else await alone(await readFile(photograph))
