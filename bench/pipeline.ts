// Modified images that are in no cache, beside the library alone in a loop with as many jobs, and ipx.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sharp, { type Sharp } from 'sharp'
import { compare, type Contender, type Sample } from './lib/compare.ts'
import { cpuMicros, cpuSeconds } from './lib/machine.ts'
import { SECONDS } from './lib/options.ts'
import { photo, stamp } from './lib/photos.ts'
import { freePort, startServerAt } from './lib/server.ts'
import { startService } from './lib/service.ts'
import { uploadMany } from './lib/uploads.ts'
import { withWorkspace } from './lib/workspace.ts'

const SIZES = [
  { megapixels: 2, width: 1732, height: 1155 },
  { megapixels: 12, width: 4243, height: 2828 },
]
const CLIENTS = 16
/** Sources: more than clients, so that no two ask for the same at once. */
const SOURCES = 24
/** As many as the service has processes. */
const JOBS = 2
const RATIO = 0.9

const formats: readonly {
  readonly name: string
  readonly token: string
  readonly ipx: string
  readonly encode: (image: Sharp) => Sharp
}[] = [
  {
    name: 'JPEG q80',
    token: 'f_jpg,q_80',
    ipx: 'f_jpeg,q_80',
    encode: (image) => image.jpeg({ quality: 80 }),
  },
  {
    name: 'WebP q80',
    token: 'f_webp,q_80',
    ipx: 'f_webp,q_80',
    encode: (image) => image.webp({ quality: 80 }),
  },
  {
    name: 'AVIF',
    token: 'f_avif',
    ipx: 'f_avif,q_50',
    encode: (image) => image.avif({ quality: 50, effort: 2 }),
  },
  { name: 'PNG', token: 'f_png', ipx: 'f_png', encode: (image) => image.png() },
]

/** Goes on through all turns, so that each takes other sources. */
let turn = 0

sharp.concurrency(1)
sharp.cache(false)
const IPX = fileURLToPath(new URL('node_modules/ipx/bin/ipx.mjs', import.meta.url))
if (!existsSync(IPX)) console.log('ipx is not here (npm ci in bench): its rows are left out.')

await withWorkspace(async (workspace) => {
  for (const { megapixels, width, height } of SIZES) {
    const jpeg = await photo(width, height)
    const folder = join(workspace.folder, `sources-${megapixels}`)
    await mkdir(folder)
    const sources = Array.from({ length: SOURCES }, (_, i) => Buffer.from(stamp(jpeg, i)))
    for (const [i, bytes] of sources.entries()) await writeFile(join(folder, `${i}.jpg`), bytes)
    const service = await startService(workspace, {
      flags: ['--memory-cache', '0', '--derivative-cache', '0'],
      core: 'any',
    })
    const hashes = await uploadMany(service, jpeg, SOURCES)
    const ipx = existsSync(IPX) ? await startIpx(folder, workspace.folder) : undefined
    if (ipx !== undefined) workspace.keep(ipx)
    const memory = watchMemory(service.pid)

    for (const { name, token, ipx: ipxToken, encode } of formats) {
      const floor = `the library alone, ${JOBS} jobs`
      const contenders: Contender[] = [
        {
          name: floor,
          run: () =>
            lanes(JOBS, process.pid, async (i) => {
              const bytes = sources[i % SOURCES]
              await encode(sharp(bytes).autoOrient().resize(512, 512, { fit: 'inside' })).toBuffer()
            }),
        },
        {
          name: `\`/i/\`, ${CLIENTS} clients`,
          floor,
          target: RATIO,
          run: () =>
            lanes(CLIENTS, service.pid, (i) =>
              fetched(`${service.url}/i/${hashes[i % SOURCES]}&m=w_512,h_512,${token}`),
            ),
        },
      ]
      if (ipx !== undefined)
        contenders.push({
          name: `ipx, ${CLIENTS} clients`,
          floor,
          run: () =>
            lanes(CLIENTS, ipx.pid, (i) =>
              fetched(`${ipx.url}/${ipxToken},s_512x512,fit_inside/${i % SOURCES}.jpg`),
            ),
        })
      await compare(`${megapixels} megapixels to 512 pixels, ${name}`, contenders)
    }
    console.log(`\nPeak resident set of the service with its children: ${memory.stop()} MB (250 at most)`)
    await service.stop()
    await ipx?.stop()
  }
})

async function startIpx(folder: string, output: string) {
  const port = await freePort()
  const args = [IPX, 'serve', '--dir', folder, '--port', String(port), '--host', '127.0.0.1']
  return startServerAt(
    { command: process.execPath, args, core: undefined, output: join(output, `ipx-${port}.log`) },
    port,
  )
}

async function fetched(url: string): Promise<void> {
  // A server may close a connection that was idle between two turns in the moment in which it is used again.
  const response = await fetch(url).catch(() => fetch(url))
  const bytes = await response.arrayBuffer()
  if (response.status !== 200 || bytes.byteLength === 0) throw new Error(`${response.status} from ${url}`)
}

/** Work in so many lanes at once, each with another source. */
async function lanes(count: number, pid: number, work: (i: number) => Promise<void>): Promise<Sample> {
  const start = performance.now()
  const cpu = cpuSeconds(pid)
  let done = 0
  await Promise.all(
    Array.from({ length: count }, async () => {
      do {
        await work(turn++)
        done++
      } while (performance.now() - start < SECONDS * 1_000)
    }),
  )
  const perSecond = (done * 1_000) / (performance.now() - start)
  return { perSecond, cpuMicros: cpuMicros(cpu, cpuSeconds(pid), done) }
}

/** The largest resident set of a process and its children, in MB. */
function watchMemory(pid: number) {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, residentOf(pid))), 50)
  return {
    stop() {
      clearInterval(timer)
      return Math.round(peak / 1_000)
    },
  }
}

function residentOf(pid: number): number {
  try {
    const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1])
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(Boolean),
    )
    return own + children.reduce((sum, child) => sum + residentOf(Number(child)), 0)
  } catch {
    // It ended between two looks.
    return 0
  }
}
