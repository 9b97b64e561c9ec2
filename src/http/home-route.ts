import type { FastifyInstance } from 'fastify'
import { answer } from './openapi/json-schema.ts'

/** Where the parts of the service are, under its public URL. */
export const homeOf = (baseUrl: string) => ({
  console: `${baseUrl}/console/`,
  openapi: `${baseUrl}/openapi.json`,
})

/**
 * Registers the address of the service itself: browsers are sent to the console, and programs get the addresses as JSON.
 * @param prefix the path of the service: empty, or with a leading slash and no trailing one
 * @param baseUrl returns the public URL, which is known once the server listens
 */
export function homeRoute(app: FastifyInstance, prefix: string, baseUrl: () => string): void {
  const url = { type: 'string', format: 'uri' }
  app.get(
    '/',
    {
      schema: {
        tags: ['service'],
        operationId: 'get-home',
        summary: 'Addresses of the console and of this document',
        description: 'Redirects browsers (`Accept: text/html`) to the console.',
        response: {
          200: answer({ console: url, openapi: url }, 'The addresses', {
            ...homeOf('https://example.com'),
          }),
          302: { description: 'The console, for browsers', type: 'null' },
        },
      },
    },
    async (request, reply) => {
      void reply.header('vary', 'Accept')
      if (/\btext\/html\b/i.test(request.headers.accept ?? ''))
        return reply.redirect(`${prefix}/console/`, 302)
      return { status: 200, ...homeOf(baseUrl()) }
    },
  )
}
