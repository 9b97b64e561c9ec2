import type { FastifyInstance } from 'fastify'
import { Refusal } from '../../core/errors.ts'
import { foldSearch } from '../../core/names.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { nextLink } from '../../http/links.ts'
import { choice, flag, integer, text } from '../../http/parameters.ts'
import { decodeCursor } from '../cursor.ts'
import { MAX_PAGE, type DomainLists } from '../list.ts'
import { listAnswer } from '../schemas.ts'

const parameters = {
  search: text('Only names that contain this text', 255),
  agent: flag('Look for `search` in the agent instead'),
  length: integer('Only names of this many characters', 1, 63),
  status: integer('Only records with this status', 0, 1),
  reserve: flag('Only reserved domains'),
  rev: flag('Only domains marked for review'),
  dis: flag('Only discarded domains'),
  last_register: integer('The most recently registered', 1, MAX_PAGE),
  last_deleted: integer('The most recently deleted', 1, MAX_PAGE),
  sort: choice('Order by date', ['asc', 'desc']),
  limit: integer('Records in a page', 1, MAX_PAGE),
  cursor: text('Where the page starts: from the `Link` header of the one before', 1_000),
}

export function listRoute(
  app: FastifyInstance,
  shared: EndpointShared,
  lists: DomainLists,
  baseUrl: () => string,
) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    methods: ['GET'],
    path: '/api/v1/domainwatch/list',
    parameters,
    document: {
      tag: 'domainwatch',
      summary: 'List recorded domains',
      description:
        'Newest first, at most 1,024 records; when there are more, the `Link` header carries the address of the next page.',
      answers: { 200: listAnswer },
    },

    async handle({ values, request, reply }) {
      const { search, agent, length, status, reserve, rev, dis } = values
      if (agent && (search === undefined || search === '')) {
        throw new Refusal(400, 'El parámetro agent necesita el parámetro search')
      }
      const cursor = values.cursor === undefined ? undefined : decodeCursor(values.cursor)
      if (values.cursor !== undefined && cursor === undefined) {
        throw new Refusal(400, 'El parámetro cursor debe ser el de la cabecera Link de la página anterior')
      }
      const folded = search === undefined || agent ? undefined : foldSearch(search)
      const page = await lists.page({
        filters: {
          search: folded?.text === '' ? undefined : folded,
          agent: agent ? search?.toLowerCase() : undefined,
          length,
          status,
          reserve,
          rev,
          dis,
        },
        lastRegister: values.last_register,
        lastDeleted: values.last_deleted,
        ascending: values.sort === 'asc',
        limit: values.limit,
        cursor,
      })
      if (page.next !== undefined) reply.header('link', nextLink(baseUrl, request, page.next))
      const query = JSON.stringify(search?.toLowerCase() ?? '')
      return `{"status":200,"count":${page.count},"query":${query},"data":[${page.json}]}`
    },
  })
}
