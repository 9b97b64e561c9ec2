import { Readable } from 'node:stream'
import type { HttpRequest } from '../../http/server.ts'
import { badParameter, httpErrors } from '../../http/errors.ts'
import { parseCursor, type Cursor } from '../../storage/database/changes/change.ts'
import { publicUrl } from '../../http/headers.ts'
import { clientAbort, enterUntilClosed } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { choice, integer, text } from '../../http/parameters.ts'
import { sendAtomFeed } from '../events/atom.ts'
import { accountClient } from '../../lib/client.ts'
import { ConsoleLinks } from '../texts.ts'
import { EVENT_CHOICES, EVENT_KINDS } from '../events/event.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { problem, string } from '../../http/openapi/json-schema.ts'
import type { AddRoutes } from '../services.ts'

/** Not JSON: the schema only documents it. */
const eventsAnswer = {
  description:
    `Stream of events, each with its \`id\`, its name (${[...EVENT_KINDS, 'gap'].map((kind) => `\`${kind}\``).join(', ')}) and JSON: ` +
    '`event`, `at`, `account`, `record` and `before`, the records as `list` shows them with `seen`, `note` and `tags`; or an Atom feed',
  content: {
    'text/event-stream': { schema: string() },
    'application/atom+xml': { schema: string() },
  },
}

const MAX_ENTRIES = 200
const DEFAULT_ENTRIES = 50

const parameters = {
  ...filterParameters,
  last_event_id: text(
    'ID of the last event received, for clients that cannot set the header `Last-Event-ID`',
    100,
  ),
  format: choice('Stream of events (`sse`, the default) or Atom feed of the newest ones', ['sse', 'atom']),
  limit: integer('Maximum number of entries of the Atom feed', 1, MAX_ENTRIES),
  changes: choice('Events to send: changes of records (default), of their DNS, or both', EVENT_CHOICES),
}

export const eventsRoute: AddRoutes = (app, shared, { baseUrl, following: { events } }) => {
  const pages = new ConsoleLinks(baseUrl)
  // Before the server waits for its connections to end.
  app.addHook('preClose', (done) => {
    events.stopping.abort()
    done()
  })

  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/events',
    scopes: ['read', 'write'],
    parameters,
    operation: 'streamEvents',
    summary: 'Stream changes of records',
    description:
      'Streams server-sent events for changes on any node. An event is sent if its record matched the filters ' +
      'before or after the change. The event `gap` says that changes were missed. `format=atom` returns an Atom feed of the newest ones.',
    answers: { 200: eventsAnswer, 400: problem('A parameter or `Last-Event-ID` is invalid', badEventId()) },

    async handle({ values, identity, request, reply, isCurrent, expiresIn }) {
      const filters = readFilters(values)
      const { changes = 'all' } = values
      const after = lastEventId(request, values.last_event_id)
      const left = clientAbort(reply.raw)
      if (values.format === 'atom') {
        const limit = values.limit ?? DEFAULT_ENTRIES
        const feed = await events.atomFeed(changes, filters, limit, pages.sheet, identity.accountId, left)
        const self = publicUrl(baseUrl, request.raw.url ?? '')
        return sendAtomFeed(request, reply, feed, { self, alternate: pages.view(values) })
      }
      reply.header('content-type', 'text/event-stream')
      reply.header('x-accel-buffering', 'no')
      // Node sends no body for HEAD, and nothing would end the stream.
      if (request.method === 'HEAD') return ''
      const { accountId: account } = identity
      await enterUntilClosed(events.streams, accountClient(account), reply.raw)
      const signal = AbortSignal.any([left, events.stopping.signal])
      return Readable.from(
        events.stream({ filters, changes, after, account, isCurrent, expiresIn, signal }),
        {
          highWaterMark: 1,
        },
      )
    },
  })
}

/** A browser repeats the query of the first connection at each later one: the header is newer. */
function lastEventId(request: HttpRequest, parameter: string | undefined): Cursor | undefined {
  const header = request.headers['last-event-id']
  const isHeader = typeof header === 'string' && header !== ''
  const id = isHeader ? header : parameter
  if (id === undefined || id === '') return undefined
  if (isCursor(id)) return id
  throw isHeader ? badEventId() : badParameter('last_event_id', TAKES_EVENT_ID)
}

const badEventId = () => httpErrors.bad_header('Last-Event-ID', TAKES_EVENT_ID)
const TAKES_EVENT_ID = 'debe ser el id de un evento recibido'

function isCursor(text: string): text is Cursor {
  return parseCursor(text) !== undefined
}
