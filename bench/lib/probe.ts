// Child process: times sequential requests until it receives a message.
import { connect } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds, except `count`. */
export interface Probed {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly slowest: number
}

const PAUSE_MS = 1
const WARM_UP = 200

const { hostname, port, pathname } = new URL(process.argv[2] ?? '')
const socket = connect({ host: hostname, port: Number(port), noDelay: true })
await once(socket, 'connect')
const times: number[] = []
let stopped = false

// A small response arrives in one chunk.
async function request(): Promise<number> {
  const start = performance.now()
  const answer = once(socket, 'data')
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`)
  const [chunk] = await answer
  if (!String(chunk).startsWith('HTTP/1.1 200')) throw new Error(`unexpected response: ${String(chunk)}`)
  return performance.now() - start
}

for (let i = 0; i < WARM_UP; i++) await request()
process.on('message', () => {
  stopped = true
})
process.send?.('ready')
while (!stopped) {
  times.push(await request())
  await sleep(PAUSE_MS)
}
times.sort((a, b) => a - b)
const within = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
const result: Probed = {
  count: times.length,
  p50: within(0.5),
  p99: within(0.99),
  slowest: times.at(-1) ?? 0,
}
process.send?.(result)
socket.destroy()
