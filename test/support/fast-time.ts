/**
 * Loaded into a service before its own modules: from SIGUSR2 on, time-outs that are set pass many times as fast,
 * those of sockets included. What takes minutes then takes seconds.
 */
import { Socket } from 'node:net'

/** What is waited for 5 s, such as a read of the database, has a quarter of a second then. */
export const FASTER = 20

const { setTimeout: slowTimeout, performance } = globalThis
const slowNow = performance.now.bind(performance)

let isFast = false
process.on('SIGUSR2', () => {
  if (isFast) return
  isFast = true
  const start = slowNow()
  performance.now = () => start + (slowNow() - start) * FASTER
  const fast = (callback: () => void, ms = 0) => slowTimeout(callback, ms / FASTER)
  globalThis.setTimeout = Object.assign(fast, slowTimeout)
  // oxlint-disable-next-line typescript/unbound-method -- the proxy calls it with its socket
  Socket.prototype.setTimeout = new Proxy(Socket.prototype.setTimeout, {
    apply: (slow, socket, [ms, ...rest]) => Reflect.apply(slow, socket, [Number(ms) / FASTER, ...rest]),
  })
  process.stdout.write('{"msg":"time is fast"}\n')
})
