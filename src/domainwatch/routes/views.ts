import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { missingParameter } from '../../http/errors.ts'
import { answer, array, integer, object, problem, string } from '../../http/openapi/json-schema.ts'
import { integer as integerParameter, text, type Parameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { domainErrors } from '../errors.ts'
import { bit } from '../schemas.ts'
import { MAX_VIEW_NAME_CHARACTERS, MAX_VIEWS, type Views } from '../views/index.ts'
import { nameParameter } from './watch-parameters.ts'

const MAX_FILTERS_CHARACTERS = 2_000
const MAX_ID_CHARACTERS = 100

const EXAMPLE = { name: 'Casas libres', filters: 'word=casa&status=0', shared: 1 }
const id = { ...text('ID of the view', MAX_ID_CHARACTERS), example: 'k3J9x0aQ_-Zb' }

const filters: Parameter<string> = {
  ...text('Filters of the view, as the query of a URL', MAX_FILTERS_CHARACTERS),
  schema: { type: 'string', minLength: 1, maxLength: MAX_FILTERS_CHARACTERS },
  parse(given) {
    const value = new URLSearchParams(given).toString()
    if (value !== '' && value.length <= MAX_FILTERS_CHARACTERS) return { value }
    return { takes: `debe ser la consulta de una URL, de 1 a ${MAX_FILTERS_CHARACTERS} caracteres` }
  },
}

const viewId = string('ID of the view')
const viewAnswer = answer({ id: viewId }, 'The view', { id: 'k3J9x0aQ_-Zb' })
const viewsAnswer = answer(
  {
    count: integer('Number of views'),
    data: array(
      object(
        {
          id: viewId,
          name: string('Name of the view'),
          filters: string('Filters of the view, as the query of a URL'),
          shared: bit('Whether the whole group sees the view (1)'),
          owner: string('Account that saved the view, the only one that can change it'),
        },
        { title: 'View' },
      ),
      'Views, the oldest first',
    ),
  },
  'The views',
  { count: 1, data: [{ id: 'k3J9x0aQ_-Zb', ...EXAMPLE, owner: 'grupo' }] },
)

const ofAnother = problem('Another account shares the view', domainErrors.view_owner_only())
const gone = problem('There is no such view', domainErrors.view_not_found())

/** Saved views: filters under a name. */
export function viewsRoutes(app: HttpServer, shared: EndpointShared, views: Views): void {
  const base = { service: 'domainwatch', path: '/api/v1/domainwatch/views' } as const

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['GET'],
    scopes: ['read', 'write'],
    parameters: {},
    document: {
      operation: 'listViews',
      summary: 'List saved views of the account, and those that others share',
      answers: { 200: viewsAnswer },
    },
    async handle({ identity }) {
      const data = await views.list(identity.accountId)
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['POST'],
    scopes: ['write'],
    parameters: {
      id: { ...id, description: 'ID of the view to change; without it, a new view is saved' },
      name: { ...nameParameter('Name of the view', MAX_VIEW_NAME_CHARACTERS), example: EXAMPLE.name },
      filters: { ...filters, example: EXAMPLE.filters },
      shared: integerParameter('Whether the whole group sees the view (1)', 0, 1),
    },
    document: {
      operation: 'saveView',
      summary: 'Save or change a view',
      description:
        'A new view needs `name` and `filters`. Changes the given properties of a view of the account if `id` is given.',
      answers: {
        200: viewAnswer,
        403: ofAnother,
        404: gone,
        409: problem('The account has the maximum number of views', domainErrors.too_many_views(MAX_VIEWS)),
      },
    },
    async handle({ values: { id: known, name, filters: query, shared: isShared }, identity }) {
      if (known !== undefined) {
        const edit = {
          ...(name !== undefined && { name }),
          ...(query !== undefined && { filters: query }),
          ...(isShared !== undefined && { shared: isShared }),
        }
        await views.edit(identity.accountId, known, edit)
        return { status: 200, id: known }
      }
      if (name === undefined) throw missingParameter('name')
      if (query === undefined) throw missingParameter('filters')
      const created = await views.create(identity.accountId, { name, filters: query, shared: isShared ?? 0 })
      return { status: 200, id: created }
    },
  })

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['DELETE'],
    scopes: ['write'],
    parameters: { id: { ...id, required: true } },
    document: {
      operation: 'deleteView',
      summary: 'Delete a saved view',
      answers: { 200: viewAnswer, 403: ofAnother, 404: gone },
    },
    async handle({ values, identity }) {
      const known = values.id ?? ''
      await views.remove(identity.accountId, known)
      return { status: 200, id: known }
    },
  })
}
