import type { ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { pid } from 'node:process'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { symbols, type Logger } from 'pino'
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
export function observeAnswers(metrics: Metrics, log: Logger): ObserveAnswer {
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
      writeLine(id, ip, method, name, status, ms)
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
  // Most often it is a balancer's, or the same browser's again.
  let lastIp: string | undefined
  let tail = ',"ip":null,"msg":"request"}\n'
  return (id: string, ip: string | undefined, method: string, route: string, status: number, ms: number) => {
    if (!log.isLevelEnabled('info')) return
    if (ip !== lastIp) {
      lastIp = ip
      tail = `,"ip":${JSON.stringify(ip ?? null)},"msg":"request"}\n`
    }
    output.write(
      `${head}${Date.now()},${process},"reqId":"${id}","method":"${method}","route":"${route}",` +
        `"status":${status},"ms":${Math.round(ms * 1000) / 1000}${tail}`,
    )
  }
}

/** A log whose lines carry the request's id. Made for the few lines that need it, not for every request. */
export function requestLog(request: FastifyRequest): Pick<Logger, 'info' | 'error'> {
  return request.log.child({ reqId: request.id })
}
