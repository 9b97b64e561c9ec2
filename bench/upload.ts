// Measures uploads of photographs, compared with the unavoidable parts in process and with Directus, which does not
// hash pixels. `--only 12,directus` selects sizes in megapixels, and peers (directus; `none`).
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { compare, type Contender, type Sample } from './lib/compare.ts'
import { cpuMicros, cpuSeconds } from './lib/machine.ts'
import { chosen, SECONDS } from './lib/options.ts'
import { photo, UploadBody } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { startDatabaseServer } from './lib/postgres.ts'
import { startService, type Service } from './lib/service.ts'
import { doParts, timeParts } from './lib/upload-parts.ts'
import { withWorkspace } from './lib/workspace.ts'
import { uploadPicture } from './peers/directus-pictures.ts'
import { hasDirectus, startDirectus } from './peers/directus.ts'

const SIZES = chosen(
  [
    { megapixels: '2', width: 1732, height: 1155 },
    { megapixels: '12', width: 4243, height: 2828 },
  ],
  ({ megapixels }) => megapixels,
)
const withDirectus = hasDirectus && chosen(['directus', 'none'], (name) => name).includes('directus')
if (!hasDirectus) console.log('Directus is not installed (npm ci in bench): its row is omitted.')
/** Concurrent uploads, on two cores. */
const CLIENTS = 4

// One thread per image, as in the service.
sharp.concurrency(1)
sharp.cache(false)

await withWorkspace(async (workspace) => {
  const folder = join(workspace.folder, 'parts')
  await mkdir(folder)
  const oneCore = await startService(workspace)
  const allCores = await startService(workspace, { core: 'any' })
  const directus = withDirectus
    ? await startDirectus(workspace, {
        database: await (await startDatabaseServer(workspace)).make(),
        core: 'any',
      })
    : undefined

  for (const { megapixels, width, height } of SIZES) {
    const jpeg = await photo(width, height)
    const bodies = Array.from({ length: CLIENTS }, () => new UploadBody(jpeg))
    const size = `${megapixels} megapixels, ${(jpeg.length / 1e6).toFixed(1)} MB`

    const parts = 'the unavoidable parts, in process'
    await compare(`Upload one at a time: ${size}`, [
      { name: parts, run: () => together(bodies.slice(0, 1), (body) => doParts(body.next(), folder)) },
      {
        name: 'upload over HTTP, on one core',
        floor: parts,
        target: 1.2,
        inTime: true,
        run: () => overHttp(oneCore, bodies.slice(0, 1)),
      },
    ])
    console.log(`\n${await timeParts(new UploadBody(jpeg).next(), folder)}`)

    const floor = `the same work in process, ${CLIENTS} jobs`
    const contenders: Contender[] = [
      { name: floor, run: () => together(bodies, (body) => doParts(body.next(), folder)) },
      { name: `${CLIENTS} clients over HTTP`, floor, target: 0.8, run: () => overHttp(allCores, bodies) },
    ]
    if (directus !== undefined) {
      const send = () => uploadPicture(directus, Buffer.from(jpeg))
      const run = () => together(bodies, send, () => cpuSeconds(directus.pid))
      contenders.push({ name: `Directus, ${CLIENTS} clients`, floor, mayFail: true, run })
    }
    await compare(`Uploads by ${CLIENTS} clients, on all cores: ${size}`, contenders)
  }
})

/** Repeats the work for all bodies concurrently. `cpu` returns the CPU seconds used so far. */
async function together(
  bodies: readonly UploadBody[],
  work: (body: UploadBody) => Promise<unknown>,
  cpu: () => number | undefined = ownCpu,
): Promise<Sample> {
  const before = cpu()
  const start = performance.now()
  let done = 0
  await Promise.all(
    bodies.map(async (body) => {
      do {
        await work(body)
        done++
      } while (performance.now() - start < SECONDS * 1000)
    }),
  )
  const perSecond = (done * 1000) / (performance.now() - start)
  const after = cpu()
  return { perSecond, cpuMicros: cpuMicros(before, after, done) }
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function overHttp(service: Service, bodies: readonly UploadBody[]): Promise<Sample> {
  const url = service.endpoint('imagestore/upload')
  const send = (body: UploadBody) => post(url, body.contentType, body.next())
  return together(bodies, send, () => cpuSeconds(service.pid))
}
