// Compares one process with two, each on all cores of the machine that also runs the load generator. The CPU time of
// the load generator is printed, because on a machine with few cores it competes with the second process. `ratio by
// CPU`, in responses per CPU second, is independent of that: it is 1 if the second process adds no overhead. Bare
// `node:http`, whose processes share nothing, shows how the machine itself scales (two hardware threads of one core,
// for example).
import { existsSync, readFileSync } from 'node:fs'
import { startBareProcesses } from './lib/bare-server.ts'
import { compare, median, type Contender, type Sample } from './lib/compare.ts'
import { addAll, generateDomains } from './lib/domains.ts'
import { load } from './lib/load.ts'
import { SECONDS } from './lib/options.ts'
import { padded, photo, stamp, UploadBody } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { startService, type Service } from './lib/service.ts'
import type { Server } from './lib/server.ts'
import { withWorkspace } from './lib/workspace.ts'

const ROWS = 10_000
const IMAGE_BYTES = 20_000
const BARE_BYTES = 200
const TARGET = 1.7
const TICK_SECONDS = 0.01

await withWorkspace(async (workspace) => {
  const one = await startService(workspace, { core: 'any' })
  const two = await startService(workspace, { core: 'any', flags: ['--workers', '2'] })
  const body = new UploadBody(stamp(padded(await photo(320, 213), IMAGE_BYTES), 0))
  const image = body.stamped(0)
  const domains = generateDomains(ROWS)
  let hash = ''
  for (const service of [one, two]) {
    await addAll(service, domains)
    const answer: { hash: string } = JSON.parse(
      await post(service.endpoint('imagestore/upload'), body.contentType, image),
    )
    hash = answer.hash
  }

  const paths: Readonly<Record<string, (service: Service) => string>> = {
    '`get`': (service) => service.endpoint('imagestore/get', { hash }),
    [`\`list\`, \`last_register=5\` of ${ROWS} records`]: (service) =>
      service.endpoint('domainwatch/list', { last_register: '5' }),
    [`\`/i/\`, one image of ${IMAGE_BYTES / 1000} KB`]: (service) => `${service.url}/i/${hash}`,
  }
  const bare = [1, 2].map((count) => startBareProcesses(workspace, BARE_BYTES, count))
  const [bareOne, bareTwo] = await Promise.all(bare)
  if (bareOne === undefined || bareTwo === undefined) throw new Error('no floor')
  const shares = new Map<string, number[]>()
  await compare('One process and two', [
    ...pair('bare `node:http`', bareOne, bareTwo, ({ url }) => url, undefined),
    ...Object.entries(paths).flatMap(([name, url]) => pair(name, one, two, url, TARGET)),
  ])
  console.log('\nCPU time of the load generator, in cores:')
  for (const [name, own] of shares) console.log(`- ${name}: ${median(own).toFixed(2)}`)

  function pair<S extends Server>(
    name: string,
    first: S,
    second: S,
    url: (server: S) => string,
    target: number | undefined,
  ): Contender[] {
    const floor = `${name}, one process`
    const both = `${name}, two`
    return [
      { name: floor, run: () => measure(floor, first, url(first)) },
      {
        name: both,
        floor,
        ...(target === undefined ? {} : { target }),
        run: () => measure(both, second, url(second)),
      },
    ]
  }

  async function measure(name: string, server: Server, url: string): Promise<Sample> {
    const before = generatorSeconds()
    const sample = await load({ server, url })
    const own = shares.get(name) ?? []
    shares.set(name, [...own, (generatorSeconds() - before) / SECONDS])
    return sample
  }
})

/** CPU seconds of exited child processes: those of the load generator, as no other child exits meanwhile. */
function generatorSeconds(): number {
  if (!existsSync('/proc/self/stat')) return NaN
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_SECONDS
}
