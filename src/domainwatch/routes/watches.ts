import { missingParameter } from '../../http/errors.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import {
  problem,
  string,
  answer,
  integer,
  object,
  nullable,
  listAnswer,
} from '../../http/openapi/json-schema.ts'
import {
  testAnswer,
  watchesAnswer,
  watchAnswer,
  watchStored,
  secretRotated,
  watchEdit,
  watchGone,
  watchRefused,
  watchParameters,
  WATCHES_PATH,
  which,
  shownOnce,
  editParameters,
} from './watch-schemas.ts'
import { domainErrors } from '../errors.ts'
import { MAX_WATCHES, SECRETS_OVERLAP_HOURS, MAX_REPLAYS } from '../watches/index.ts'
import { toPage } from '../../http/headers.ts'
import { localDateTime } from '../../lib/dates.ts'
import { MAX_SHARED } from '../watches/edit-watch.ts'
import type { AddRoutes } from '../services.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import type { DeliveryRow } from '../../deliveries/queries.ts'
import { DELIVERIES_DAYS, MAX_DELIVERIES } from '../../deliveries/delivery-attempt.ts'
import { bit } from '../schemas.ts'
import { readIdCursor } from './history.ts'

const parameters = {
  ...watchParameters,
  name: { ...watchParameters.name, required: true, example: 'Nombres cortos' },
}

const DELIVERY_EXAMPLE = {
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

const deliveriesAnswer = listAnswer(
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
  { description: 'Deliveries, the newest first' },
  DELIVERY_EXAMPLE,
)

const replayAnswer = answer(
  {
    id: string('Watch ID'),
    delivery: string('Delivery ID'),
  },
  'The delivery will be sent again',
  { id: 'q0Zl3vXW8b1k', delivery: DELIVERY_EXAMPLE.id },
)

const MAX_DELIVERIES_PAGE = 500
const DEFAULT_DELIVERIES_PAGE = 50

export const watchRoutes: AddRoutes = (app, shared, { baseUrl, following: { watches }, timeZone }) => {
  simpleEndpoint(app, shared, {
    route: `POST ${WATCHES_PATH}`,
    scopes: ['write'],
    parameters,
    operation: 'createWatch',
    summary: 'Create a watch',
    description:
      'Saves filters, and notifies of new matches by webhook (Standard Webhooks), messages to people, an Atom feed, or several ' +
      'of these. The secret and the address of the Atom feed are returned only in this response.',
    answers: {
      200: watchStored,
      400: watchRefused,
      409: problem(
        'The account has the maximum number of watches',
        domainErrors.too_many_watches(MAX_WATCHES),
        domainErrors.too_many_shared_watches(0),
        domainErrors.too_many_account_destinations(0),
      ),
    },
    async handle({ values, identity }) {
      if (values.name === undefined) throw missingParameter('name')
      const made = await watches.create(identity.accountId, watchEdit(values))
      return shownOnce(made.id, made, baseUrl)
    },
  })

  simpleEndpoint(app, shared, {
    route: `GET ${WATCHES_PATH}`,
    scopes: ['read', 'write'],
    parameters: {},
    operation: 'listWatches',
    summary: 'List watches of the account, and those that others share',
    answers: { 200: watchesAnswer },
    async handle({ identity }) {
      const data = await watches.list(identity.accountId)
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: `DELETE ${WATCHES_PATH}`,
    scopes: ['write'],
    parameters: which,
    operation: 'deleteWatch',
    summary: 'Delete a watch',
    description: 'Also deletes the Atom feed and the deliveries of the watch.',
    answers: {
      200: watchAnswer,
      403: problem('Another account shares the watch', domainErrors.owner_only()),
      404: watchGone,
    },
    async handle({ values: { id = '' }, identity }) {
      await watches.remove(identity.accountId, id)
      await shared.audit.record(identity, 'watch.delete', id)
      return { status: 200, id }
    },
  })

  simpleEndpoint(app, shared, {
    route: `POST ${WATCHES_PATH}/test`,
    scopes: ['write'],
    parameters: which,
    operation: 'testWatch',
    summary: 'Send a test to the destinations of a watch',
    description:
      'Waits up to 25 s for the responses. Abandoned deliveries to a destination resume if its test arrives. An account can send ' +
      'ten tests, then ten a minute; a host gets twenty tests, then twenty a minute.',
    answers: {
      200: testAnswer,
      404: watchGone,
      429: problem('Too many tests', tooManyRequests()),
    },
    async handle({ values: { id = '' }, identity }) {
      const data = await watches.test(identity.accountId, id)
      // Of several destinations, the first one that failed.
      return { status: 200, id, ...(data.find(({ delivered }) => delivered === 0) ?? data[0]), data }
    },
  })

  simpleEndpoint(app, shared, {
    route: `POST ${WATCHES_PATH}/update`,
    scopes: ['write'],
    parameters: editParameters,
    operation: 'updateWatch',
    summary: 'Edit, pause or share a watch',
    description:
      'Changes the given properties. The filters are one property: any of them replaces all, and an empty `search` alone ' +
      'removes all. Only the account that created the watch may change `url`, `to`, `atom` and `shared`. A secret or the ' +
      'address of an Atom feed that this edit creates is returned only in this response.',
    answers: {
      200: watchStored,
      400: watchRefused,
      403: problem('Another account shares the watch', domainErrors.owner_only()),
      404: watchGone,
      409: problem(
        'The group has the maximum number of shared watches',
        domainErrors.too_many_shared_watches(MAX_SHARED),
        domainErrors.too_many_account_destinations(0),
      ),
    },
    async handle({ values, identity }) {
      const { id = '', ...given } = values
      return shownOnce(id, await watches.edit(identity.accountId, id, watchEdit(given)), baseUrl)
    },
  })

  simpleEndpoint(app, shared, {
    route: `POST ${WATCHES_PATH}/rotate`,
    scopes: ['write'],
    parameters: which,
    operation: 'rotateWatchSecret',
    summary: 'Replace the secret of a watch',
    description: `Returns the new secret, only in this response. For ${SECRETS_OVERLAP_HOURS} hours, webhooks have a signature by each secret, the new one first.`,
    answers: {
      200: secretRotated,
      403: problem('Another account shares the watch', domainErrors.owner_only()),
      404: watchGone,
      409: problem('The watch has no webhook', domainErrors.webhook_missing()),
    },
    async handle({ values: { id = '' }, identity }) {
      const { secret, until } = await watches.rotate(identity.accountId, id)
      return {
        status: 200,
        id,
        secret,
        until: localDateTime(until, timeZone),
        until_utc: new Date(until).toISOString(),
      }
    },
  })

  simpleEndpoint(app, shared, {
    route: `GET ${WATCHES_PATH}/deliveries`,
    scopes: ['read', 'write'],
    parameters: {
      ...which,
      limit: integerParameter(
        `Deliveries per page; default ${DEFAULT_DELIVERIES_PAGE}`,
        1,
        MAX_DELIVERIES_PAGE,
      ),
      cursor: text('Cursor of the page, from the `Link` header of the previous one', 100),
    },
    operation: 'listDeliveries',
    summary: 'List deliveries of a watch',
    description:
      `Lists the deliveries of the last ${DELIVERIES_DAYS} days, at most ${MAX_DELIVERIES.toLocaleString('en')}, newest first. The \`Link\` ` +
      'header has the address of the next page, if there is one.',
    answers: { 200: deliveriesAnswer, 404: watchGone },
    async handle(call) {
      const { id = '', limit = DEFAULT_DELIVERIES_PAGE, cursor } = call.values
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
