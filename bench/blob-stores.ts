// Compares files with an S3 store (Ceph's gateway, entirely in memory): uploads, and originals by public links.
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { noCeph, startCeph } from '../test/support/ceph.ts'
import { compare, type Sample } from './lib/compare.ts'
import { canRotate, load, rotation } from './lib/load.ts'
import { cpuMicros, cpuSeconds } from './lib/machine.ts'
import { SECONDS } from './lib/options.ts'
import { padded, photo, UploadBody } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { startService, type Service } from './lib/service.ts'
import { uploadMany } from './lib/uploads.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const CLIENTS = 4
const BUCKET = 'catalejo-bench'
/** Together several times the size of the memory cache below. */
const SIZES = [
  { kilobytes: 20, count: 1_000 },
  { kilobytes: 200, count: 150 },
]
const SMALL_CACHE = ['--memory-cache', '8']

if (noCeph !== false) {
  console.log(`No S3 store to measure: ${noCeph}`)
} else {
  await withWorkspace(measure)
}

async function measure(workspace: Workspace): Promise<void> {
  const blobsUrl = await startStore(workspace)
  const flags = ['--blobs-url', blobsUrl]
  const files = await startService(workspace, { core: 'any' })
  const s3 = await startService(workspace, { core: 'any', flags })

  const jpeg = await photo(1732, 1155)
  const bodies = Array.from({ length: CLIENTS }, () => new UploadBody(jpeg))
  for (const clients of [1, CLIENTS]) {
    const own = bodies.slice(0, clients)
    await compare(
      `Uploads by ${clients} clients, 2 megapixels, ${(jpeg.length / 1e6).toFixed(1)} MB: files and S3`,
      [
        { name: 'files', run: () => uploads(files, own) },
        { name: 'S3', floor: 'files', run: () => uploads(s3, own) },
      ],
    )
  }
  await files.stop()
  await s3.stop()

  const cold = {
    files: await startService(workspace, { flags: SMALL_CACHE }),
    S3: await startService(workspace, {
      flags: [...SMALL_CACHE, '--blobs-url', `${blobsUrl.replace('?', '/links?')}`],
    }),
  }
  for (const { kilobytes, count } of SIZES) {
    const image = padded(await photo(320, 213), kilobytes * 1_000)
    const hashes = await uploadMany(cold.files, image, count)
    await uploadMany(cold.S3, image, count)
    const paths = hashes.map((hash) => `/i/${hash}`)
    const script = await rotation(join(workspace.folder, `links-${kilobytes}.lua`), paths)
    const hot = (server: Service) => () => load({ server, url: server.url + (paths[0] ?? '') })
    const inTurn = (server: Service) => () => load({ server, url: server.url, script })
    await compare(`One original of ${kilobytes} KB, from memory: files and S3`, [
      { name: 'files', run: hot(cold.files) },
      { name: 'S3', floor: 'files', run: hot(cold.S3) },
    ])
    if (!canRotate) continue
    await compare(`${count} originals of ${kilobytes} KB in turn, cache for a fraction: files and S3`, [
      { name: 'files', run: inTurn(cold.files) },
      { name: 'S3', floor: 'files', run: inTurn(cold.S3) },
    ])
  }
}

/** @returns the value of `--blobs-url`; the credentials are in environment variables */
async function startStore(workspace: Workspace): Promise<string> {
  const ceph = await startCeph()
  workspace.keep({ stop: async () => ceph[Symbol.asyncDispose]() })
  process.env['AWS_ACCESS_KEY_ID'] = ceph.accessKeyId
  process.env['AWS_SECRET_ACCESS_KEY'] = ceph.secretAccessKey
  const client = new S3Client({ endpoint: ceph.endpoint, region: 'us-east-1', forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  client.destroy()
  return `s3://${BUCKET}?endpoint=${ceph.endpoint}`
}

async function uploads(service: Service, bodies: readonly UploadBody[]): Promise<Sample> {
  const url = service.endpoint('imagestore/upload')
  const before = cpuSeconds(service.pid)
  const start = performance.now()
  let done = 0
  await Promise.all(
    bodies.map(async (each) => {
      do {
        await post(url, each.contentType, each.next())
        done++
      } while (performance.now() - start < SECONDS * 1000)
    }),
  )
  const perSecond = (done * 1000) / (performance.now() - start)
  return { perSecond, cpuMicros: cpuMicros(before, cpuSeconds(service.pid), done) }
}
