import { localDateTime } from '../../lib/dates.ts'
import { toPage } from '../../http/headers.ts'
import { missingParameter } from '../../http/errors.ts'
import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { answer, problem, array, integer, object, string, nullable } from '../../http/openapi/json-schema.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import { domainErrors } from '../errors.ts'
import { MAX_REPLAYS } from '../watches/index.ts'
import type { DeliveryRow } from '../../deliveries/queries-deliveries.ts'
import { DELIVERIES_DAYS, MAX_DELIVERIES } from '../../deliveries/delivery-attempt.ts'
import { watchGone, WATCHES_PATH, which } from './watch-parameters.ts'
import { bit } from '../schemas.ts'
import { readIdCursor } from './history.ts'
import type { DomainServices } from '../services.ts'

const SHOWN = {
  id: 'msg_NkS9BzIM6vFRXZ5orBeP',
  time: '2026-01-06 06:00:00',
  time_utc: '2026-01-06T09:00:00.812Z',
  channel: 'webhook',
  events: 3,
  state: 'delivered',
  attempts: 2,
  code: 204,
  milliseconds: 184,
  error: null,
  replayable: 1,
  replaying: 0,
}

const deliveriesAnswer = answer(
  {
    count: integer(),
    data: array(
      object(
        {
          id: string('Delivery ID, the same for all attempts; `webhook-id` of webhooks'),
          time: string('Start of the delivery, in the time zone of the service'),
          time_utc: string('Start of the delivery, in UTC (RFC 3339)'),
          channel: string('Channel: `webhook`, `mailto` and others'),
          events: integer('Number of changes'),
          state: string({
            enum: ['pending', 'delivered', 'failed'],
            description: 'State of the delivery. `pending`: in progress. `failed`: abandoned',
          }),
          attempts: integer('Number of attempts'),
          code: nullable(integer('Status of the last response; null without a response')),
          milliseconds: nullable(integer('Duration of the last attempt; null before it ended')),
          error: nullable(string('Error of the last attempt; null if it succeeded')),
          replayable: bit('Whether the content is kept, so that the delivery can be sent again'),
          replaying: bit('Whether a replay is queued'),
        },
        { title: 'Delivery' },
      ),
    ),
  },
  'Deliveries, the newest first',
  { count: 1, data: [SHOWN] },
)

const replayAnswer = answer(
  {
    id: string('Watch ID'),
    delivery: string('Delivery ID'),
  },
  'The delivery will be sent again',
  { id: 'q0Zl3vXW8b1k', delivery: SHOWN.id },
)

const MAX_PAGE = 500
const DEFAULT_PAGE = 50

export function watchDeliveryRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { baseUrl, following: { watches }, timeZone }: DomainServices,
): void {
  simpleEndpoint(app, shared, {
    route: `GET ${WATCHES_PATH}/deliveries`,
    scopes: ['read', 'write'],
    parameters: {
      ...which,
      limit: integerParameter(`Deliveries per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE),
      cursor: text('Cursor of the page, from the `Link` header of the previous one', 100),
    },
    operation: 'listDeliveries',
    summary: 'List deliveries of a watch',
    description:
      `Lists the deliveries of the last ${DELIVERIES_DAYS} days, at most ${MAX_DELIVERIES.toLocaleString('en')}, newest first. The \`Link\` ` +
      'header has the address of the next page, if there is one.',
    answers: { 200: deliveriesAnswer, 404: watchGone },
    async handle(call) {
      const { id = '', limit = DEFAULT_PAGE, cursor } = call.values
      const before = cursor === undefined ? undefined : readIdCursor(cursor)
      const rows = await watches.deliveries(call.identity.accountId, id, limit + 1, before)
      const shown = toPage(call, baseUrl, rows, limit, ({ number }) => String(number))
      const data = shown.map((row) => deliveryJson(row, timeZone))
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: `POST ${WATCHES_PATH}/replay`,
    scopes: ['write'],
    parameters: {
      ...which,
      delivery: {
        ...text('Delivery ID', 100),
        required: true,
        example: 'msg_NkS9BzIM6vFRXZ5orBeP',
      },
    },
    operation: 'replayDelivery',
    summary: 'Send a delivery again',
    description:
      'Sends the delivery once more, with the same ID and content, as soon as the limits of deliveries allow. The list of ' +
      'deliveries shows the result. A delivery that is being retried is tried now.',
    answers: {
      200: replayAnswer,
      404: problem(
        'There is no such watch or delivery',
        domainErrors.delivery_not_found(),
        domainErrors.watch_not_found(),
      ),
      409: problem('Too many replays are queued', domainErrors.too_many_replays(MAX_REPLAYS)),
      410: problem(
        'The content of the delivery is no longer kept',
        domainErrors.delivery_content_gone(),
        domainErrors.delivery_destination_gone(),
      ),
    },
    async handle({ values: { id = '', delivery }, identity }) {
      if (delivery === undefined) throw missingParameter('delivery')
      await watches.replay(identity.accountId, id, delivery)
      return { status: 200, id, delivery }
    },
  })
}

function deliveryJson(row: DeliveryRow, timeZone: string) {
  return {
    id: row.id,
    time: localDateTime(row.created_at, timeZone),
    time_utc: new Date(row.created_at).toISOString(),
    channel: row.channel,
    events: row.events,
    state: row.state,
    attempts: row.attempts,
    code: row.code,
    milliseconds: row.duration_ms,
    error: row.error,
    replayable: row.has_body,
    replaying: row.replay_at === null ? 0 : 1,
  }
}
