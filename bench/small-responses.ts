// Measures small responses against a bare `node:http` server with a response of the same size.
import { join } from 'node:path'
import { startBare, startFastify } from './lib/bare-server.ts'
import { compare, SMALL_WARM_UPS, type Contender } from './lib/compare.ts'
import { addAll, generateDomains } from './lib/domains.ts'
import { load, rotation } from './lib/load.ts'
import { ROUNDS } from './lib/options.ts'
import { photo, stamp, UploadBody } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { startService, type Service } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const ROWS = 110_000
const TARGET = 0.6
const IMAGES = 200
const RARE = {
  domain: 'zzz-poco',
  length: 8,
  reserve: 0,
  status: 1,
  date_reg: '2025-05-01 10:00:00',
} as const

await withWorkspace(async (workspace) => {
  const domains = generateDomains(ROWS)
  const service = await startService(workspace)
  await addAll(service, [...domains, RARE])
  const small = await startService(workspace)
  await addAll(small, [...domains.slice(0, 1_000), RARE])
  const hashes = await uploadSmall(service)

  const get = service.endpoint('imagestore/get', { hash: hashes[0] ?? '' })
  const paths = hashes.map((hash) => service.endpoint('imagestore/get', { hash }).slice(service.url.length))
  const gets = await rotation(join(workspace.folder, 'gets.lua'), paths)
  const newest = service.endpoint('domainwatch/list', { last_register: '5' })
  const search = { search: 'zzz' }
  const searchSmall = small.endpoint('domainwatch/list', search)
  const searchLarge = service.endpoint('domainwatch/list', search)
  const health = `${service.url}/healthz`

  const getSize = await sizeOf(get)
  const listSize = await sizeOf(newest)
  const searchSize = await sizeOf(searchSmall)
  const healthSize = await sizeOf(health)
  const floors = new Map(
    await Promise.all(
      [...new Set([getSize, listSize, searchSize, healthSize])].map(
        async (size) => [size, await startBare(workspace, size)] as const,
      ),
    ),
  )
  const fastify = await startFastify(workspace, getSize)
  const bare = (size: number) => `bare node:http, ${size} bytes`

  const contenders: Contender[] = [
    ...[...floors].map(([size, server]) => ({
      name: bare(size),
      run: () => load({ server, url: server.url }),
    })),
    {
      name: `Fastify, a constant of ${getSize} bytes`,
      floor: bare(getSize),
      run: () => load({ server: fastify, url: fastify.url }),
    },
    { name: '`/healthz`', floor: bare(healthSize), run: () => load({ server: service, url: health }) },
    {
      name: `\`get\` of ${IMAGES} hashes in turn`,
      floor: bare(getSize),
      target: TARGET,
      run: () => load({ server: service, url: get, script: gets }),
    },
    {
      name: `\`list\`, \`last_register=5\` of ${ROWS} records`,
      floor: bare(listSize),
      target: TARGET,
      run: () => load({ server: service, url: newest }),
    },
    {
      name: '`list`, `search` that finds 1 of 1,000 records',
      floor: bare(searchSize),
      target: TARGET,
      run: () => load({ server: small, url: searchSmall }),
    },
    {
      name: `\`list\`, \`search\` that finds 1 of ${ROWS} records`,
      floor: bare(searchSize),
      target: TARGET,
      run: () => load({ server: service, url: searchLarge }),
    },
  ]
  await compare('Small responses', contenders, ROUNDS, SMALL_WARM_UPS)
})

async function uploadSmall(service: Service): Promise<string[]> {
  const body = new UploadBody(stamp(await photo(160, 120), 0))
  const hashes: string[] = []
  for (let i = 0; i < IMAGES; i++) {
    const answer: { hash: string } = JSON.parse(
      await post(service.endpoint('imagestore/upload'), body.contentType, body.next()),
    )
    hashes.push(answer.hash)
  }
  return hashes
}

async function sizeOf(url: string): Promise<number> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`${url} responds with ${response.status}`)
  return (await response.arrayBuffer()).byteLength
}
