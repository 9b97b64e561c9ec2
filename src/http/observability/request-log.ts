import { performance } from 'node:perf_hooks'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pino, type Logger } from 'pino'
import { clientNetwork } from '../client.ts'
import type { GracefulShutdown } from '../graceful-shutdown.ts'

const WINDOW_MS = 60_000
/** Clients counted separately; further ones are counted as one. */
const MAX_CLIENTS = 10_000
const OTHERS = 'others'

/** Logged in place of a status when the client closed the connection before the response was sent (nginx's convention). */
const CLIENT_CLOSED_REQUEST = 499

export type ObserveRequest = (request: FastifyRequest, reply: FastifyReply, route: string | undefined) => void

/**
 * Measures and logs each request once, when its response was sent or its client disconnected: Fastify's `onResponse` hook is not
 * called in the second case. The log line names the route's pattern, never the URL, which carries the API key.
 */
export function requestObserver(
  log: Logger,
  measure: (labels: { method: string; route: string; status: number }, seconds: number) => void,
  quota: LogQuota,
  shutdown: GracefulShutdown,
): ObserveRequest {
  return ({ id: reqId, ip, method, socket }, { raw: response }, route = 'unknown') => {
    const start = performance.now()
    response.on('close', () => {
      shutdown.release(socket, response)
      const ms = performance.now() - start
      const status = response.writableFinished ? response.statusCode : CLIENT_CLOSED_REQUEST
      measure({ method, route, status }, ms / 1_000)
      if (!quota.take(ip)) return
      const rounded = Math.round(ms * 1_000) / 1_000
      const level = status < 400 && isProbe(route) ? 'debug' : 'info'
      log[level]({ reqId, method, route, status, ms: rounded, ip: ip ?? null }, 'request completed')
    })
  }
}

/** Whether machines ask for it every few seconds. */
const isProbe = (route: string): boolean => /\/(healthz|readyz|metrics)$/.test(route)

const SILENT = pino({ enabled: false })

/**
 * A log for one line about a request, with its id. Counts towards the client's quota. Created for the few requests that need it,
 * not for every one.
 */
export function requestLog({ server, id, ip }: FastifyRequest): Pick<Logger, 'info' | 'error'> {
  return server.logQuota.take(ip) ? server.serviceLog.child({ reqId: id }) : SILENT
}

/** Limits the log lines about requests per client, so that no client can fill the disk. */
export class LogQuota {
  readonly #log: Logger
  readonly #maxLines: number
  readonly #lines = new Map<string, number>()

  /** @param maxLines per client and minute; 0 for no limit */
  constructor(log: Logger, maxLines: number) {
    this.#log = log
    this.#maxLines = maxLines
  }

  /** Counts a line; false if it must not be logged. The number of omitted lines is logged at the end of the minute. */
  take(ip: string | undefined): boolean {
    if (this.#maxLines === 0) return true
    if (this.#lines.size === 0) setTimeout(() => this.#report(), WINDOW_MS).unref()
    const group = clientNetwork(ip ?? '')
    const client = this.#lines.size < MAX_CLIENTS || this.#lines.has(group) ? group : OTHERS
    const lines = (this.#lines.get(client) ?? 0) + 1
    this.#lines.set(client, lines)
    return lines <= this.#maxLines
  }

  #report(): void {
    for (const [client, lines] of this.#lines) {
      const unlogged = lines - this.#maxLines
      if (unlogged > 0) this.#log.warn({ ip: client, lines: unlogged }, 'log lines about a client omitted')
    }
    this.#lines.clear()
  }
}
