// Measures uncached derivatives, compared with the library alone in a loop and with other image servers.
// `--only 12,jpeg,ipx` selects sizes in megapixels, formats, and peers (ipx, directus, nginx; `none`).
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { compare, type Contender } from './lib/compare.ts'
import { fetched, lanes } from './lib/concurrent-load.ts'
import { chosen } from './lib/options.ts'
import { photo, stamp } from './lib/photos.ts'
import { startDatabaseServer } from './lib/postgres.ts'
import { BOX, renditions, type Rendition } from './lib/renditions.ts'
import { startService } from './lib/service.ts'
import { uploadMany } from './lib/uploads.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'
import { assetUrl, uploadPicture } from './peers/directus-pictures.ts'
import { hasDirectus, startDirectus } from './peers/directus.ts'
import { hasImageFilter, startImageFilter } from './peers/image-filter.ts'
import { hasIpx, startIpx } from './peers/ipx.ts'

const SIZES = chosen(
  [
    { megapixels: '2', width: 1732, height: 1155 },
    { megapixels: '12', width: 4243, height: 2828 },
  ],
  ({ megapixels }) => megapixels,
)
const FORMATS = chosen(renditions, ({ name }) => name)
const PEERS = chosen(['ipx', 'directus', 'nginx', 'none'], (name) => name)

const CLIENTS = 16
/**
 * Clients of peers whose encoder takes seconds per image: enough to keep the cores busy, with turns below a minute.
 */
const AVIF_CLIENTS = 4
/** More than clients, so that no two request the same source concurrently. */
const SOURCES = 24
/** As many as the service has processes. */
const JOBS = 2
const RATIO = 0.9

/** Another server that serves the same derivatives. */
interface Peer {
  readonly name: string
  readonly pid: number
  /** How many times faster than the peer we aim to be. */
  readonly aim: number
  /** Returns undefined if the peer does not support this rendition. */
  readonly url: (rendition: Rendition, i: number) => string | undefined
}

sharp.concurrency(1)
sharp.cache(false)

await withWorkspace(async (workspace) => {
  for (const { megapixels, width, height } of SIZES) {
    const jpeg = await photo(width, height)
    const folder = join(workspace.folder, `sources-${megapixels}`)
    await mkdir(folder)
    const sources = Array.from({ length: SOURCES }, (_, i) => Buffer.from(stamp(jpeg, i)))
    for (const [i, bytes] of sources.entries()) await writeFile(join(folder, `${i}.jpg`), bytes)

    const uploading = await startService(workspace, { core: 'any' })
    const hashes = await uploadMany(uploading, jpeg, SOURCES)
    await uploading.stop()
    const service = await startService(workspace, {
      existing: uploading,
      flags: ['--memory-cache', '0', '--derivative-cache', '0'],
      core: 'any',
    })
    const peers = await startPeers(workspace, folder, jpeg)

    for (const rendition of FORMATS) {
      const { name, title, token, encode } = rendition
      const alone = (jobs: number) => () =>
        lanes(jobs, process.pid, async (i) => {
          const bytes = sources[i % SOURCES]
          await encode(sharp(bytes).autoOrient().resize(BOX, BOX, { fit: 'inside' })).toBuffer()
        })
      const floor = `the library alone, ${JOBS} jobs`
      const ours = `\`/i/\`, ${CLIENTS} clients`
      const clients = name === 'avif' ? AVIF_CLIENTS : CLIENTS
      const contenders: Contender[] = [
        { name: floor, run: alone(JOBS) },
        { name: `the library alone, ${CLIENTS} jobs`, floor, run: alone(CLIENTS) },
        {
          name: ours,
          floor,
          target: RATIO,
          run: () =>
            lanes(CLIENTS, service.pid, (i) =>
              fetched(`${service.url}/i/${hashes[i % SOURCES]}&m=w_${BOX},h_${BOX},${token}`),
            ),
        },
      ]
      const capable = peers.filter(({ url }) => url(rendition, 0) !== undefined)
      const toRow = (peer: Peer) => `${peer.name}, ${clients} clients`
      for (const peer of capable) {
        const run = () => lanes(clients, peer.pid, (i) => fetched(peer.url(rendition, i) ?? ''))
        contenders.push({ name: toRow(peer), floor, mayFail: true, run })
      }
      const rates = await compare(`${megapixels} megapixels to ${BOX} pixels, ${title}, uncached`, contenders)
      console.log()
      for (const peer of capable) {
        const times = (rates.get(ours) ?? NaN) / (rates.get(toRow(peer)) ?? NaN)
        if (!Number.isNaN(times))
          console.log(
            `${times.toFixed(2)} times ${peer.name} (at least ${peer.aim}: ${times < peer.aim ? 'missed' : 'met'}).`,
          )
      }
    }
    await service.stop()
  }
})

async function startPeers(workspace: Workspace, folder: string, jpeg: Buffer): Promise<Peer[]> {
  const peers: Peer[] = []
  const wanted = (name: string, isHere: boolean) => {
    if (PEERS.includes(name) && !isHere) console.log(`${name} is not installed: its rows are omitted.`)
    return PEERS.includes(name) && isHere
  }
  if (wanted('ipx', hasIpx)) {
    const { pid, url } = await startIpx(workspace, folder)
    const toUrl: Peer['url'] = ({ ipx }, i) => `${url}/${ipx},s_${BOX}x${BOX},fit_inside/${i % SOURCES}.jpg`
    peers.push({ name: 'ipx', pid, aim: 1, url: toUrl })
  }
  if (wanted('nginx', hasImageFilter)) {
    const { pid, url } = await startImageFilter(workspace, folder, BOX)
    // It does not convert formats.
    const toUrl: Peer['url'] = ({ name }, i) => (name === 'jpeg' ? `${url}/${i % SOURCES}.jpg` : undefined)
    peers.push({ name: "nginx's image filter", pid, aim: 3, url: toUrl })
  }
  if (wanted('directus', hasDirectus)) {
    const database = await startDatabaseServer(workspace)
    const directus = await startDirectus(workspace, { database: await database.make(), core: 'any' })
    const ids: string[] = []
    for (let i = 0; i < SOURCES; i++) ids.push(await uploadPicture(directus, Buffer.from(stamp(jpeg, i))))
    const toUrl: Peer['url'] = (rendition, i) =>
      assetUrl(directus, ids[i % SOURCES] ?? '', rendition.directus)
    peers.push({ name: 'Directus', pid: directus.pid, aim: 1.8, url: toUrl })
  }
  return peers
}
