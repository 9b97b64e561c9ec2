// A DNS client in its own process: `dns-client.ts WHO PORT WHAT IN_FLIGHT SECONDS`. Prints the result as a line of
// JSON.
import { createSocket } from 'node:dgram'
import { Resolver as NodeResolver } from 'node:dns'
import { createResolver } from '../../src/lib/dns/index.ts'
import { createQuery, messageWithId } from '../../src/lib/dns/message.ts'
import { DELEGATED, delegatedName, OWN_ZONES, ownName } from './dns-zone.ts'

const [who = '', port = '', what = '', flying = '', seconds = ''] = process.argv.slice(2)
/** Number of prepared queries; the id of each is its index. */
const BARE_NAMES = 20_000
/** One of this many queries is timed. */
const TIMED = 8
/** Queries before the measurement: Node optimizes hot code only after some ten thousand runs. */
const WARM_UP = 30_000

const names =
  what === 'delegated'
    ? Array.from({ length: DELEGATED }, (_, i) => delegatedName(i))
    : Array.from({ length: OWN_ZONES }, (_, i) => ownName(i))

type LookUp = (name: string) => Promise<{ readonly kind: string }>

const FOUND = { kind: 'found' }
const FAILED = { kind: 'failed' }

function createLookUp(): LookUp {
  if (who === 'node:dns') {
    const resolver = new NodeResolver({ timeout: 3_000, tries: 2 })
    resolver.setServers([`127.0.0.1:${port}`])
    return (name) =>
      new Promise((resolve) => resolver.resolveNs(name, (error) => resolve(error === null ? FOUND : FAILED)))
  }
  const resolver = createResolver({
    servers: [{ address: '127.0.0.1', family: 4, port: Number(port) }],
    maxInFlight: 10_000,
    role: what === 'delegated' ? 'parent' : 'resolver',
    // A repeated name is looked up again: answers from a cache would also never let the timers below run.
    cache: { get: () => undefined, set: () => undefined },
  })
  return (name) => resolver.nameServers(name)
}

const times: number[] = []
let next = 0
let done = 0
let wrong = 0
let isMeasured = false

async function go(lookUp: LookUp): Promise<never> {
  for (;;) {
    const isTimed = isMeasured && next % TIMED === 0
    const start = isTimed ? performance.now() : 0
    if ((await lookUp(names[next++ % names.length] ?? '')).kind !== 'found') wrong++
    done++
    if (isTimed) times.push(performance.now() - start)
  }
}

/** The upper bound of clients that send one datagram per query through Node: does not parse or store responses. */
async function goBare(): Promise<void> {
  const queries = names.slice(0, BARE_NAMES).flatMap((name, id) => {
    const query = createQuery(name, 'ns', what === 'delegated' ? 'parent' : 'resolver')
    return query === undefined ? [] : [messageWithId(query, id)]
  })
  const socket = createSocket({ type: 'udp4', recvBufferSize: 8 * 1024 * 1024 })
  await new Promise<void>((resolve) => socket.connect(Number(port), '127.0.0.1', resolve))
  const send = () => socket.send(queries[next++ % queries.length] ?? '')
  socket.on('message', () => {
    done++
    send()
  })
  for (let i = 0; i < Number(flying); i++) {
    send()
    // Sends in bursts that fit into the server's receive buffer.
    if (i % 128 === 127) await new Promise((resolve) => setImmediate(resolve))
  }
}

if (who === 'dgram') await goBare()
else {
  const lookUp = createLookUp()
  for (let i = 0; i < Number(flying); i++) void go(lookUp)
}
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
const p99 = times[Math.floor(times.length * 0.99)] ?? 0
console.log(
  JSON.stringify({ perSecond: (count / elapsed) * 1_000, cpuMicros: (user + system) / count, p99, wrong }),
)
process.exit(0)
