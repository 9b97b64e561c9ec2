import type { HttpServer } from '../../http/server.ts'
import { HttpError } from '../../lib/errors.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { choice, flag, text } from '../../http/parameters.ts'
import { WATCH_CHOICES } from '../events/event.ts'
import { readFilters } from '../filters.ts'
import type { Subscriptions } from '../subscriptions.ts'
import { testAnswer, watchesAnswer, watchAnswer, watchGone, watchMade } from '../schemas-watches.ts'
import { toSave, watchFilters } from '../watches/watched.ts'
import { NO_RECEIVER } from '../watches/edit-watch.ts'
import { readTarget } from '../watches/webhook/connect.ts'
import { noWatch, sharing, watchId, watchName, WATCHES_PATH, which } from './watch-parameters.ts'

const parameters = {
  ...watchFilters,
  name: { ...watchName(), required: true, example: 'Nombres cortos' },
  changes: choice('What comes to match, all that happens to what matches, changes of its DNS', WATCH_CHOICES),
  url: text('Where webhooks are sent', 2_048),
  atom: flag('Make an Atom feed'),
  ...sharing,
}

export function watchesRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { watches, isAllowedAddress }: Subscriptions,
  baseUrl: () => string,
) {
  const base = { service: 'domainwatch', path: WATCHES_PATH } as const

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['POST'],
    scopes: ['write'],
    parameters,
    document: {
      tag: 'domainwatch',
      summary: 'Watch for what is new',
      description:
        'Saves filters, and tells of new matches by webhook (Standard Webhooks), by an Atom feed with an address of its ' +
        'own, or both. The secret and the address of the feed are shown this once.',
      answers: {
        200: watchMade,
        409: problem('The account has all it may have', 409, 'La cuenta ya tiene 50 vigilancias'),
      },
    },
    async handle({ values, identity }) {
      const { name: label, changes = 'new', url, atom, shared: isShared, ...filters } = values
      if (label === undefined) throw new HttpError(400, 'Falta el parámetro name')
      if (url === undefined && !atom) throw new HttpError(400, NO_RECEIVER)
      readFilters(filters)
      const target = url === undefined ? undefined : readTarget(url, isAllowedAddress)
      if (target?.ok === false) throw new HttpError(400, `El parámetro url ${target.takes}`)
      const destinations = target === undefined ? [] : [{ channel: 'webhook', address: target.url } as const]
      const made = await watches.create(identity.accountId, {
        name: label,
        filters: toSave(filters),
        changes,
        destinations,
        atom,
        isShared: isShared === 1,
      })
      const feed = made.feedToken === undefined ? undefined : `${baseUrl()}/w/${made.feedToken}.atom`
      return { status: 200, id: made.id, secret: made.secret ?? null, atom: feed ?? null }
    },
  })

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['GET'],
    scopes: ['read', 'write'],
    parameters: {},
    document: {
      tag: 'domainwatch',
      summary: "The account's watches, and those that others share",
      answers: { 200: watchesAnswer },
    },
    async handle({ identity }) {
      const data = await watches.list(identity.accountId)
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['DELETE'],
    scopes: ['write'],
    parameters: which,
    document: {
      tag: 'domainwatch',
      summary: 'Watch no longer',
      description: 'Its webhooks stop and its feed is gone.',
      answers: { 200: watchAnswer, 404: watchGone },
    },
    async handle({ values, identity }) {
      const id = watchId(values.id)
      if (!(await watches.remove(identity.accountId, id))) throw noWatch()
      return { status: 200, id }
    },
  })

  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['write'],
    path: `${WATCHES_PATH}/test`,
    methods: ['POST'],
    parameters: which,
    document: {
      tag: 'domainwatch',
      summary: 'Send a test to the webhook of a watch',
      description:
        'Waits for its answer, at most 20 s. A watch that was given up goes on when the test arrives. ' +
        'Ten tests of an account and twenty to a host pass, then ten and twenty a minute.',
      answers: {
        200: testAnswer,
        404: watchGone,
        429: problem('Too many tests', 429, 'Demasiadas solicitudes'),
      },
    },
    async handle({ values, identity }) {
      const id = watchId(values.id)
      const outcome = await watches.test(identity.accountId, id)
      if (outcome === undefined) throw noWatch()
      const { kind, code = null } = outcome
      const error = kind === 'delivered' ? null : outcome.error
      return { status: 200, id, delivered: kind === 'delivered' ? 1 : 0, code, error }
    },
  })
}
