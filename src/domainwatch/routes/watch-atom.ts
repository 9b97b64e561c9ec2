import { clientGroup } from '../../http/client.ts'
import type { HttpServer } from '../../http/server.ts'
import { publicUrl } from '../../http/headers.ts'
import { problem, string } from '../../http/openapi/json-schema.ts'
import { ConsoleLinks } from '../console-links.ts'
import { ATOM_TYPE, sendAtomFeed } from '../events/atom.ts'
import type { Watches } from '../watches/index.ts'
import { noWatch } from './watch-parameters.ts'

/** The Atom feed of a watch. Needs no key: the address is the secret. */
export function watchAtomRoute(app: HttpServer, watches: Watches, baseUrl: () => string) {
  const pages = new ConsoleLinks(baseUrl)
  app.get<{ Params: { token: string } }>(
    '/w/:token.atom',
    {
      schema: {
        tags: ['domainwatch'],
        operationId: 'get-watch-feed',
        summary: 'The Atom feed of a watch',
        description: 'No key: the address is the secret. It stops working when the watch is deleted.',
        params: {
          type: 'object',
          properties: { token: string({ description: 'From the answer that created the watch' }) },
        },
        response: {
          200: { description: 'The feed', content: { [ATOM_TYPE]: { schema: string() } } },
          304: { description: 'The feed has not changed', type: 'null' },
          404: problem('No such feed', noWatch()),
        },
      },
    },
    async (request, reply) => {
      const found = await watches.atomFeed(
        request.params.token,
        pages.sheet,
        `address ${clientGroup(request.ip)}`,
      )
      if (found === undefined) throw noWatch()
      const self = publicUrl(baseUrl, request.raw.url ?? '')
      return sendAtomFeed(request, reply, found.feed, { self, alternate: pages.view(found.filters) })
    },
  )
}
