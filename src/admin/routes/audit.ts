import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { invalidCursor, toPage } from '../../http/headers.ts'
import { integer, text } from '../../http/parameters.ts'
import type { AuditPlace } from '../../http/auth/queries-audit.ts'
import { auditAnswer } from '../schemas.ts'

const DEFAULT_PAGE = 100
const MAX_PAGE = 1_000

export function auditRoute(app: HttpServer, shared: EndpointShared, baseUrl: () => string): void {
  simpleEndpoint(app, shared, {
    service: 'admin',
    scopes: [],
    methods: ['GET'],
    path: '/api/v1/admin/audit',
    parameters: {
      account: text('Only entries of this account or `cli:` user', 400),
      limit: integer(`Entries per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE),
      cursor: text('Cursor of the page, from the `Link` header of the previous one', 100),
    },
    document: {
      operation: 'listAuditEntries',
      summary: 'Read who did what',
      description:
        'Lists changes of keys, limits and rules, deletions and bulk changes of the last year, the latest first. The `Link` header has the ' +
        'address of the next page, if there is one.',
      answers: { 200: auditAnswer },
    },
    async handle(call) {
      const { account, limit = DEFAULT_PAGE, cursor } = call.values
      const after = cursor === undefined ? undefined : readCursor(cursor)
      const entries = await shared.audit.page(limit + 1, after, account?.trim().normalize('NFC'))
      const shown = toPage(call, baseUrl, entries, limit, ({ at, id }) => `${at}.${id}`)
      const data = shown.map(({ at, actor, key_id, action, subject }) => {
        return { date: Math.floor(at / 1_000), account: actor, key: key_id, action, subject }
      })
      return { status: 200, count: data.length, data }
    },
  })
}

/** @throws HttpError 400 */
function readCursor(given: string): AuditPlace {
  const [, at, id] = /^(\d{1,15})\.(\d{9,}-[\w-]{8})$/.exec(given) ?? []
  if (at === undefined || id === undefined) throw invalidCursor()
  return { at: Number(at), id }
}
