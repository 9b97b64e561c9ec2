// Measures public links, compared with nginx serving the same files and a bare `node:http` server.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startBare, startBareKnown } from './lib/bare-server.ts'
import { compare, SMALL_WARM_UPS, type Contender } from './lib/compare.ts'
import { canRotate, load, rotation } from './lib/load.ts'
import { has, SERVER_CORE } from './lib/machine.ts'
import { startNginx, startNginxCache } from './lib/nginx.ts'
import { ROUNDS } from './lib/options.ts'
import { padded, photo, stamp } from './lib/photos.ts'
import { startServer } from './lib/server.ts'
import { startService } from './lib/service.ts'
import { uploadMany } from './lib/uploads.ts'
import { withWorkspace } from './lib/workspace.ts'

/** Images of each size; together several times the size of the small memory cache below. */
const SIZES = [
  { kilobytes: 20, count: 1_000, hot: 0.5 },
  { kilobytes: 200, count: 150, hot: 0.7 },
]
const COLD = 0.3
const KNOWN = 0.8
const SMALL_CACHE = ['--memory-cache', '8']
/**
 * Typical of a web page: about 20 KB, from a photograph; and derivatives of that size from each of the small
 * originals.
 */
const DERIVATIVE = '&m=w_360,q_80'
const COLD_DERIVATIVE = '&m=q_95,f_jpg'
const COLD_DERIVATIVES = 1_000

const compareSmall = (title: string, contenders: readonly Contender[]) =>
  compare(title, contenders, ROUNDS, SMALL_WARM_UPS)

const hasNginx = has('nginx', '-v')
if (!hasNginx) console.log('nginx is not installed: its row and the ratios to it are omitted.')
if (!canRotate) console.log('wrk is not installed: the rows with many images are omitted.')

await withWorkspace(async (workspace) => {
  const files = join(workspace.folder, 'files')
  await mkdir(files)
  const nginx = hasNginx ? workspace.keep(await startNginx(workspace.folder, files)) : undefined
  const fastify = workspace.keep(
    await startServer(
      {
        command: process.execPath,
        args: [fileURLToPath(new URL('peers/fastify-static.js', import.meta.url)), files],
        core: SERVER_CORE,
        output: join(workspace.folder, 'fastify.log'),
      },
      /listening on (\S+)/,
    ),
  )
  const hot = await startService(workspace)
  const cold = await startService(workspace, { flags: SMALL_CACHE })

  const bareKnown = await startBareKnown(workspace)
  await derivatives()

  for (const { kilobytes, count, hot: target } of SIZES) {
    const image = padded(await photo(320, 213), kilobytes * 1_000)
    const hashes = await uploadMany(cold, image, count)
    for (const [i, hash] of hashes.entries()) await writeFile(join(files, hash), stamp(image, i))
    await uploadMany(hot, image, 1)
    const path = `/i/${hashes[0]}`
    const links = await rotation(
      join(workspace.folder, `links-${kilobytes}.lua`),
      hashes.map((hash) => `/i/${hash}`),
    )
    const names = await rotation(
      join(workspace.folder, `names-${kilobytes}.lua`),
      hashes.map((hash) => `/${hash}`),
    )

    const cacheFloor = 'nginx as a cache, one image'
    const cache = hasNginx
      ? workspace.keep(await startNginxCache(join(workspace.folder, String(kilobytes)), hot.url))
      : undefined
    const bare = await startBare(workspace, kilobytes * 1_000)
    const contenders: Contender[] = []
    const hotFloor = 'nginx, one image'
    const coldFloor = `nginx, ${count} images in turn`
    const floor = (name: string) => (nginx === undefined ? {} : { floor: name })
    const file = `/${hashes[0]}`
    if (nginx !== undefined)
      contenders.push({ name: hotFloor, run: () => load({ server: nginx, url: nginx.url + file }) })
    contenders.push(
      {
        name: `bare node:http, ${kilobytes} KB`,
        ...floor(hotFloor),
        run: () => load({ server: bare, url: bare.url }),
      },
      {
        name: '@fastify/static, one image',
        ...floor(hotFloor),
        run: () => load({ server: fastify, url: fastify.url + file }),
      },
      {
        name: '`/i/`, one image',
        ...floor(hotFloor),
        run: () => load({ server: hot, url: hot.url + path }),
      },
    )
    if (cache !== undefined)
      contenders.push(
        { name: cacheFloor, run: () => load({ server: cache, url: cache.url + path }) },
        {
          name: '`/i/`, the same image, from memory',
          floor: cacheFloor,
          target,
          run: () => load({ server: hot, url: hot.url + path }),
        },
      )
    if (canRotate) {
      if (nginx !== undefined)
        contenders.push({
          name: coldFloor,
          run: () => load({ server: nginx, url: nginx.url, script: names }),
        })
      contenders.push({
        name: `\`/i/\`, ${count} images in turn, cache for a fraction of them`,
        ...floor(coldFloor),
        target: COLD,
        run: () => load({ server: cold, url: cold.url, script: links }),
      })
    }
    await compareSmall(`Originals of ${kilobytes} KB`, contenders)

    const header = `If-None-Match: "${hashes[0]}"`
    const knownFloor = 'bare node:http, a 304'
    await compareSmall(`304 responses, and derivatives of originals of ${kilobytes} KB`, [
      { name: knownFloor, run: () => load({ server: bareKnown, url: bareKnown.url }) },
      {
        name: '`/i/`, a 304',
        floor: knownFloor,
        target: KNOWN,
        run: () => load({ server: hot, url: hot.url + path, header }),
      },
      {
        name: '`/i/`, a derivative from memory',
        floor: knownFloor,
        run: () => load({ server: hot, url: `${hot.url}${path}&m=w_160` }),
      },
    ])
  }

  async function derivatives() {
    const [hash] = await uploadMany(hot, await photo(1_200, 800), 1)
    const path = `/i/${hash}${DERIVATIVE}`
    const { byteLength } = await (await fetch(hot.url + path)).arrayBuffer()
    const title = `Derivatives of ${Math.round(byteLength / 1_000)} KB`
    const bare = await startBare(workspace, byteLength)
    const cache =
      nginx && workspace.keep(await startNginxCache(join(workspace.folder, 'derivative'), hot.url))
    const cacheFloor = 'nginx as a cache'
    const contenders: Contender[] = []
    if (cache !== undefined)
      contenders.push({ name: cacheFloor, run: () => load({ server: cache, url: cache.url + path }) })
    const floor = cache === undefined ? {} : { floor: cacheFloor }
    contenders.push(
      { name: 'bare node:http', ...floor, run: () => load({ server: bare, url: bare.url }) },
      {
        name: '`/i/`, from memory',
        ...floor,
        target: 0.5,
        run: () => load({ server: hot, url: hot.url + path }),
      },
    )
    if (canRotate) contenders.push(...(await inTurn()))
    await compareSmall(title, contenders)
  }

  async function inTurn(): Promise<Contender[]> {
    const hashes = await uploadMany(cold, padded(await photo(320, 213), 20_000), COLD_DERIVATIVES)
    const names = hashes.map((hash) => `/d-${hash}`)
    for (const hash of hashes) {
      const response = await fetch(`${cold.url}/i/${hash}${COLD_DERIVATIVE}`)
      await writeFile(join(files, `d-${hash}`), Buffer.from(await response.arrayBuffer()))
    }
    const links = await rotation(
      join(workspace.folder, 'derivatives.lua'),
      hashes.map((hash) => `/i/${hash}${COLD_DERIVATIVE}`),
    )
    const script = await rotation(join(workspace.folder, 'derivative-names.lua'), names)
    const floor = `nginx, ${COLD_DERIVATIVES} files in turn`
    const ours: Contender = {
      name: `\`/i/\`, ${COLD_DERIVATIVES} in turn, cache for a fraction of them`,
      ...(nginx === undefined ? {} : { floor }),
      target: COLD,
      run: () => load({ server: cold, url: cold.url, script: links }),
    }
    if (nginx === undefined) return [ours]
    return [{ name: floor, run: () => load({ server: nginx, url: nginx.url, script }) }, ours]
  }
})
