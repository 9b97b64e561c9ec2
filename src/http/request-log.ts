import type { ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { symbols, type Logger } from 'pino'
import type { LogQuota } from './log-quota.ts'
import type { Metrics } from './metrics.ts'

/** What stands for the status of a request whose client went away before its answer (as nginx has it). */
const CLIENT_LEFT = 499

/** Told of an answer before it is written; `route` is asked for when it has left. */
export type ObserveAnswer = (
  response: ServerResponse,
  id: string,
  /** Undefined when the client had left before its request was read. */
  ip: string | undefined,
  method: string,
  route: () => string,
  /** Called when nothing of the answer is needed any more. */
  left?: () => void,
) => void

let requests = 0
export const nextRequestId = (): string => `req-${(++requests).toString(36)}`

/**
 * Measures and logs every request once, when its answer has left or its client has: Fastify's own hook for
 * that is silent about the second.
 */
export function observeAnswers(metrics: Metrics, log: Logger, quota: LogQuota): ObserveAnswer {
  const writeLine = requestLines(log)
  return (response, id, ip, method, route, left) => {
    const start = performance.now()
    // Comes once.
    response.on('close', () => {
      const ms = performance.now() - start
      left?.()
      const status = response.writableFinished ? response.statusCode : CLIENT_LEFT
      const name = route()
      metrics.observeRequest(method, name, status, ms / 1000)
      if (quota.take(ip)) writeLine(id, ip, method, name, status, ms)
    })
  }
}

export function observeRequests(app: FastifyInstance, observe: ObserveAnswer): void {
  app.addHook('onRequest', (request, reply, done) => {
    observe(reply.raw, request.id, request.ip, request.method, () => request.routeOptions.url ?? 'unknown')
    done()
  })
}

/**
 * Writes a request's line as the log itself would, put together by hand: the general way took an eighth of the
 * time of a small answer. It names the route's pattern, never the address: that carries the key.
 */
function requestLines(log: Logger) {
  const output: { write(line: string): void } = Reflect.get(log, symbols.streamSym)
  const { info } = log.levels.values
  // The library tells its bindings without these two.
  const process = JSON.stringify({ pid, hostname: hostname(), ...log.bindings() }).slice(1, -1)
  const head = `{"level":${info},"time":`
  // Lines that follow each other have most of their text in common, and to join a few long ones is cheaper than many short ones.
  let now = NaN
  let start = ''
  let kind = { method: '', route: '', status: 0, text: '' }
  // Most often it is a balancer's, or the same browser's again.
  let lastIp: string | undefined
  let end = ',"ip":null,"msg":"request"}\n'
  return (id: string, ip: string | undefined, method: string, route: string, status: number, ms: number) => {
    if (!log.isLevelEnabled('info')) return
    if (now !== Date.now()) start = `${head}${(now = Date.now())},${process},"reqId":"`
    if (status !== kind.status || route !== kind.route || method !== kind.method) {
      const text = `","method":"${method}","route":"${route}","status":${status},"ms":`
      kind = { method, route, status, text }
    }
    if (ip !== lastIp) {
      lastIp = ip
      end = `,"ip":${JSON.stringify(ip ?? null)},"msg":"request"}\n`
    }
    output.write(start + id + kind.text + millisecondsOf(ms) + end)
  }
}

const MICROSECONDS_KNOWN = 10_000
const known: (string | undefined)[] = []

/** To the microsecond. To write a fraction out takes some time, and most answers take one of few. */
function millisecondsOf(ms: number): string {
  const micros = Math.round(ms * 1000)
  if (micros >= MICROSECONDS_KNOWN) return String(micros / 1000)
  return (known[micros] ??= String(micros / 1000))
}

/** A log whose lines carry the request's id. Made for the few lines that need it, not for every request. */
export function requestLog(request: FastifyRequest): Pick<Logger, 'info' | 'error'> {
  return request.log.child({ reqId: request.id })
}
