import type { FastifyInstance } from 'fastify'
import { Refusal } from '../core/errors.ts'
import type { Metrics } from './metrics.ts'

const READY_TIMEOUT_MS = 2_000

/** Rejects when a part that the service cannot do without does not answer. */
export type ReadyCheck = () => Promise<void>

/** What operators and their programs ask: no key, no effect. */
export function serviceRoutes(app: FastifyInstance, metrics: Metrics, checks: readonly ReadyCheck[]): void {
  const tags = ['service']
  const answer = (description: string) => ({
    description,
    type: 'object',
    properties: { status: { type: 'integer', examples: [200] } },
  })

  app.get(
    '/healthz',
    { schema: { tags, summary: 'The process is up', response: { 200: answer('It is') } } },
    async () => ({ status: 200 }),
  )

  app.get(
    '/readyz',
    { schema: { tags, summary: 'Database and image store answer', response: { 200: answer('They do') } } },
    async (request) => {
      try {
        await withTimeout(Promise.all(checks.map((check) => check())), READY_TIMEOUT_MS)
        return { status: 200 }
      } catch (error) {
        request.log.error({ err: error }, 'not ready')
        throw new Refusal(503, 'El servicio no está listo', { headers: { 'retry-after': '1' } })
      }
    },
  )

  app.get(
    '/metrics',
    { schema: { tags, summary: 'Measurements for Prometheus', produces: ['text/plain'] } },
    async (_request, reply) =>
      reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  )

  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(JSON.stringify(app.swagger())),
  )
}

async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
