import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Metrics } from './metrics.ts'
import { httpErrorOf } from '../errors.ts'

const MAX_CONNECTIONS = 100
const TIMEOUT_MS = 10_000

export interface MetricsServer {
  readonly url: string
  close(): Promise<void>
}

/** Serves only `/metrics`, on a separate address. */
export async function serveMetrics(
  metrics: Metrics,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsServer> {
  const options = { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, keepAliveTimeout: TIMEOUT_MS }
  const server = createServer(options, (request, response) => {
    const path = request.url?.split('?', 1)[0]
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const fail = (status: number) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify(httpErrorOf(status).body()))
    }
    if (path !== '/metrics' || !isRead) return fail(404)
    metrics.text().then(
      (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
      () => fail(503),
    )
  })
  server.maxConnections = MAX_CONNECTIONS
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  const ownPort = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${ownPort}/metrics`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
