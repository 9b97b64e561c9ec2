import { performance } from 'node:perf_hooks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { LogQuota } from './log-quota.ts'
import type { Metrics } from './metrics.ts'

/** Logged in place of a status when the client closed the connection before the response was sent (nginx's convention). */
const CLIENT_CLOSED_REQUEST = 499

export type ObserveRequest = (request: FastifyRequest, reply: FastifyReply) => void

let requests = 0
export const nextRequestId = (): string => `req-${(++requests).toString(36)}`

/**
 * Measures and logs every request once, when its response was sent or its client went away: Fastify's `onResponse` hook is
 * not called in the second case. The log line names the route's pattern, never the URL, which carries the API key.
 */
export function requestObserver(log: Logger, metrics: Metrics, quota: LogQuota): ObserveRequest {
  return (request, reply) => {
    const start = performance.now()
    const response = reply.raw
    // A closed socket has no address any more.
    const { ip, method } = request
    response.on('close', () => {
      const ms = performance.now() - start
      const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST
      const route = request.routeOptions.url ?? 'unknown'
      metrics.observeRequest(method, route, status, ms / 1_000)
      if (!quota.take(ip)) return
      const rounded = Math.round(ms * 1_000) / 1_000
      log.info({ reqId: request.id, method, route, status, ms: rounded, ip: ip ?? null }, 'request')
    })
  }
}

/** A log whose lines carry the request's id. Created for the few lines that need it, not for every request. */
export function requestLog(request: FastifyRequest): Pick<Logger, 'info' | 'error'> {
  return request.server.serviceLog.child({ reqId: request.id })
}
