// One asker of the DNS, in a process of its own: `dns-client.ts WHO PORT WHAT IN_FLIGHT SECONDS`. Prints a JSON line.
import { Resolver as NodeResolver } from 'node:dns'
import { createResolver } from '../../src/dns/index.ts'
import { DELEGATED, delegatedName, OWN_ZONES, ownName } from './dns-zone.ts'

const [who = '', port = '', what = '', flying = '', seconds = ''] = process.argv.slice(2)
/** Compilers need some ten thousand runs; a share of a busy machine takes a while to get them. */
const WARM_UP = 30_000

const names =
  what === 'delegated'
    ? Array.from({ length: DELEGATED }, (_, i) => delegatedName(i))
    : Array.from({ length: OWN_ZONES }, (_, i) => ownName(i))

/** Tells whether the answer was right. */
type Ask = (name: string) => Promise<boolean>

function asker(): Ask {
  if (who === 'node:dns') {
    const resolver = new NodeResolver({ timeout: 3_000, tries: 2 })
    resolver.setServers([`127.0.0.1:${port}`])
    return (name) => new Promise((resolve) => resolver.resolveNs(name, (error) => resolve(error === null)))
  }
  const resolver = createResolver({
    servers: [{ address: '127.0.0.1', family: 4, port: Number(port) }],
    maxInFlight: 10_000,
    // What is asked again and again must be asked each time; delegated names all differ, and are kept as ever.
    ...(what === 'delegated' ? { zone: { kind: 'given' } } : { maxTtl: 0 }),
  })
  return async (name) => (await resolver.nameServers(name)).kind === 'found'
}

const ask = asker()
const times: number[] = []
let next = 0
let done = 0
let wrong = 0
let isMeasured = false

async function go(): Promise<never> {
  for (;;) {
    const start = performance.now()
    if (!(await ask(names[next++ % names.length] ?? ''))) wrong++
    done++
    if (isMeasured) times.push(performance.now() - start)
  }
}
for (let i = 0; i < Number(flying); i++) void go()
while (done < WARM_UP) await new Promise((resolve) => setTimeout(resolve, 10))
isMeasured = true
const first = done
const began = performance.now()
const cpu = process.cpuUsage()
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1_000))
const elapsed = performance.now() - began
const { user, system } = process.cpuUsage(cpu)
const count = done - first
times.sort((a, b) => a - b)
const p99 = times[Math.floor(times.length * 0.99)]
console.log(
  JSON.stringify({ perSecond: (count / elapsed) * 1_000, cpuMicros: (user + system) / count, p99, wrong }),
)
process.exit(0)
