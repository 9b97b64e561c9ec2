import { simpleEndpoint } from '../../http/endpoint.ts'
import { missingParameter } from '../../http/errors.ts'
import { answer, array, integer, object, problem, string } from '../../http/openapi/json-schema.ts'
import { integer as integerParameter, text, type Parameter } from '../../http/parameters.ts'
import { domainErrors } from '../errors.ts'
import { bit } from '../schemas.ts'
import { randomId } from '../../lib/random-id.ts'
import type { Reader } from '../../storage/database/database.ts'
import { lockAccount } from '../../storage/database/dialect.ts'
import * as queries from '../views/queries.ts'
import { nameParameter } from './watch-schemas.ts'
import type { AddRoutes } from '../services.ts'

/** Views of an account. */
export const MAX_VIEWS = 100
export const MAX_VIEW_NAME_CHARACTERS = 60
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

/** Saved views: filters under a name. Only the owner changes a view, also one that the group sees. */
export const viewsRoutes: AddRoutes = (app, shared, { clock, database }) => {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/views',
    scopes: ['read', 'write'],
    parameters: {},
    operation: 'listViews',
    summary: 'List saved views of the account, and those that others share',
    answers: { 200: viewsAnswer },
    async handle({ identity }) {
      const data = await database.all(queries.viewsFor(identity.accountId))
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: 'POST /api/v1/domainwatch/views',
    scopes: ['write'],
    parameters: {
      id: { ...id, description: 'ID of the view to change; without it, a new view is saved' },
      name: { ...nameParameter('Name of the view', MAX_VIEW_NAME_CHARACTERS), example: EXAMPLE.name },
      filters: { ...filters, example: EXAMPLE.filters },
      shared: integerParameter('Whether the whole group sees the view (1)', 0, 1),
    },
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
    handle({ values, identity: { accountId } }) {
      return database.transaction(async (tx) => {
        await tx.all(lockAccount(database.dialect, accountId))
        const known = values.id === undefined ? undefined : await ownView(tx, accountId, values.id)
        const {
          name = known?.name,
          filters: query = known?.filters,
          shared: isShared = known?.shared,
        } = values
        if (name === undefined) throw missingParameter('name')
        if (query === undefined) throw missingParameter('filters')
        const view = { name, filters: query, shared: isShared ?? 0 }
        if (values.id !== undefined) {
          await tx.run(queries.updateView(values.id, view))
          return { status: 200, id: values.id }
        }
        const { count = 0 } = (await tx.first(queries.countViews(accountId))) ?? {}
        if (count >= MAX_VIEWS) throw domainErrors.too_many_views(MAX_VIEWS)
        const created = randomId()
        await tx.run(queries.insertView(created, accountId, view, clock.now()))
        return { status: 200, id: created }
      })
    },
  })

  simpleEndpoint(app, shared, {
    route: 'DELETE /api/v1/domainwatch/views',
    scopes: ['write'],
    parameters: { id: { ...id, required: true } },
    operation: 'deleteView',
    summary: 'Delete a saved view',
    answers: { 200: viewAnswer, 403: ofAnother, 404: gone },
    handle({ values, identity }) {
      const known = values.id ?? ''
      return database.transaction(async (tx) => {
        await ownView(tx, identity.accountId, known)
        await tx.run(queries.deleteView(known))
        return { status: 200, id: known }
      })
    },
  })
}

/** @throws HttpError 403 if the view is another account's, 404 */
async function ownView(tx: Reader, account: number, known: string): Promise<queries.ViewProperties> {
  const view = await tx.first(queries.visibleView(known, account))
  if (view === undefined) throw domainErrors.view_not_found()
  if (view.account_id !== account) throw domainErrors.view_owner_only()
  return view
}
