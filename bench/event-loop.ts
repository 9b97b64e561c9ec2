// Measures the latency of small responses while the service performs an expensive operation.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { addAll, generateDomains } from './lib/domains.ts'
import { ROUNDS, SECONDS } from './lib/options.ts'
import { padded, photo, UploadBody } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { startProbe } from './lib/start-probe.ts'
import { startService, type Service } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'
import { median } from './lib/compare.ts'

const ROWS = 110_000
const BATCH = 50_000
const EXPIRED = 20_000
const EIGHT_DAYS_MS = 8 * 24 * 60 * 60 * 1000
const PURGE_MS = 60_000
const LIMIT_MS = 50
const MIB = 1024 * 1024

await withWorkspace(async (workspace) => {
  const service = await startService(workspace, { core: 'any' })
  const domains = generateDomains(ROWS)
  await addAll(service, domains)
  const add = service.endpoint('domainwatch/add')
  const upload = service.endpoint('imagestore/upload')
  const send = (body: UploadBody) => post(upload, body.contentType, body.next())
  await send(new UploadBody(await photo(320, 213)))
  // Alternating batches, so that every record changes each time.
  const batches = [1, 0].map((reserve) =>
    Buffer.from(JSON.stringify({ data: domains.slice(0, BATCH).map((record) => ({ ...record, reserve })) })),
  )
  const large = new UploadBody(padded(await photo(1732, 1155), 20 * MIB))
  const wide = new UploadBody(await photo(8_000, 8_000, 10, 80))
  const searches = ['ca', 'zzzz', 'mari', 'x'].map((search) =>
    service.endpoint('domainwatch/list', { search }),
  )

  let adds = 0
  const works = {
    nothing: () => sleep(SECONDS * 1000),
    [`\`add\` of ${BATCH} records`]: () =>
      post(add, 'application/json', batches[adds++ % batches.length] ?? Buffer.alloc(0)),
    'an upload of 20 MiB': () => send(large),
    'an upload of 64 megapixels': () => send(wide),
    [`the purge of ${EXPIRED} records`]: () => purged(service),
    [`\`list?search=\` over ${ROWS} records`]: () =>
      Promise.all(searches.map(async (url) => (await fetch(url)).arrayBuffer())),
  }
  const toAnswers = new Map<string, Answers[]>(Object.keys(works).map((name) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, work] of Object.entries(works)) {
      if (work === works[`the purge of ${EXPIRED} records`]) {
        await discard(
          service,
          domains.slice(0, EXPIRED).map(({ domain }) => domain),
        )
      }
      await held(service)
      const probe = await startProbe(`${service.url}/healthz`)
      await work()
      const answers = await probe.stop()
      toAnswers.get(name)?.push({ ...answers, held: await held(service) })
    }
    await addAll(service, domains.slice(0, EXPIRED))
    process.stderr.write(`Event loop: round ${round + 1} of ${ROUNDS}\n`)
  }

  console.log(`\n### Latency of \`/healthz\` during expensive operations\n`)
  console.log(
    '| Operation | responses | p50 | p99 | slowest: median (worst) of rounds | longest event loop delay | target |',
  )
  console.log('|---|---|---|---|---|---|---|')
  for (const [name, rounds] of toAnswers) {
    const of = (pick: (answers: Answers) => number) => rounds.map(pick)
    const slowest = median(of(({ slowest }) => slowest))
    const heldMost = median(of(({ held }) => held))
    const cells = [
      name,
      of(({ count }) => count).reduce((sum, count) => sum + count, 0),
      ms(median(of(({ p50 }) => p50))),
      ms(median(of(({ p99 }) => p99))),
      `**${ms(slowest)}** (${ms(Math.max(...of(({ slowest }) => slowest)))})`,
      ms(heldMost),
      name === 'nothing' ? 'floor' : `at most ${LIMIT_MS} ms: ${slowest <= LIMIT_MS ? 'met' : 'missed'}`,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
})

type Answers = Awaited<ReturnType<Awaited<ReturnType<typeof startProbe>>['stop']>> & { readonly held: number }

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

/** Returns the longest event loop delay since the previous call, in milliseconds, as the service reports it. */
async function held({ url }: Service): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics)?.[1]) * 1000
}

/** Discards records, and backdates that by eight days. */
async function discard(service: Service, names: readonly string[]): Promise<void> {
  const data = names.map((domain) => ({ domain, discarded: 1 }))
  await post(
    service.endpoint('domainwatch/update'),
    'application/json',
    Buffer.from(JSON.stringify({ data })),
  )
  const db = new DatabaseSync(join(service.data, 'catalejo.db'), { timeout: 10_000 })
  db.exec(`UPDATE domains SET discarded_at = discarded_at - ${EIGHT_DAYS_MS} WHERE discarded_at IS NOT NULL`)
  db.close()
}

/** Resolves when the service has removed all discarded records. */
async function purged(service: Service): Promise<void> {
  const db = new DatabaseSync(join(service.data, 'catalejo.db'), { readOnly: true })
  const left = db.prepare('SELECT count(*) AS count FROM domains WHERE discarded_at IS NOT NULL')
  const deadline = performance.now() + PURGE_MS
  while (left.get()?.['count'] !== 0) {
    if (performance.now() > deadline) throw new Error('the purge timed out')
    await sleep(100)
  }
  db.close()
}
