// One process and two, each on all cores, with the load generator beside them. What it takes itself is told: on a machine
// of few cores it takes it from the second process. `ratio by CPU` is free of that: answers for a second of processor
// time, which one process and two would have alike if serving together cost nothing.
import { existsSync, readFileSync } from 'node:fs'
import { compare, median, type Sample } from './lib/compare.ts'
import { addAll, generateDomains } from './lib/domains.ts'
import { load } from './lib/load.ts'
import { SECONDS } from './lib/options.ts'
import { padded, photo, stamp, UploadBody } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { startService, type Service } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const ROWS = 10_000
const IMAGE_BYTES = 20_000
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
  const shares = new Map<string, number[]>()
  await compare(
    'One process and two',
    Object.entries(paths).flatMap(([name, url]) => {
      const floor = `${name}, one process`
      const both = `${name}, two`
      return [
        { name: floor, run: () => asked(floor, one, url(one)) },
        { name: both, floor, target: TARGET, run: () => asked(both, two, url(two)) },
      ]
    }),
  )
  console.log('\nProcessor time of the load generator, in cores:')
  for (const [name, own] of shares) console.log(`- ${name}: ${median(own).toFixed(2)}`)

  async function asked(name: string, server: Service, url: string): Promise<Sample> {
    const before = generatorSeconds()
    const sample = await load({ server, url })
    const own = shares.get(name) ?? []
    shares.set(name, [...own, (generatorSeconds() - before) / SECONDS])
    return sample
  }
})

/** Processor seconds of the children of this process that have ended: of the load generator, while nothing else ends. */
function generatorSeconds(): number {
  if (!existsSync('/proc/self/stat')) return NaN
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_SECONDS
}
