import type { HttpServer } from '../../http/server.ts'
import { missingParameter } from '../../http/errors.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem, string } from '../../http/openapi/json-schema.ts'
import { readFilters } from '../filters.ts'
import type { Subscriptions } from '../subscriptions.ts'
import { testAnswer, watchesAnswer, watchAnswer, watchMade } from '../schemas-watches.ts'
import { serializeFilters } from '../watches/watch-filters.ts'
import { domainErrors } from '../errors.ts'
import { MAX_WATCHES, type Watches } from '../watches/index.ts'
import {
  splitTo,
  watchGone,
  watchRefused,
  watchId,
  watchParameters,
  WATCHES_PATH,
  which,
  shownOnce,
} from './watch-parameters.ts'
import { addressClient } from '../../http/client.ts'
import { publicUrl } from '../../http/headers.ts'
import { ConsoleLinks } from '../console-links.ts'
import { ATOM_TYPE, sendAtomFeed } from '../events/atom.ts'

const parameters = {
  ...watchParameters,
  name: { ...watchParameters.name, required: true, example: 'Nombres cortos' },
}

export function watchesRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { watches }: Subscriptions,
  baseUrl: () => string,
) {
  const base = { service: 'domainwatch', path: WATCHES_PATH } as const

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['POST'],
    scopes: ['write'],
    parameters,
    document: {
      summary: 'Create a watch',
      description:
        'Saves filters, and notifies of new matches by webhook (Standard Webhooks), by messages to people, by an Atom feed ' +
        'with an address of its own, or several of these. The secret and the address of the feed are shown this once.',
      answers: {
        200: watchMade,
        400: watchRefused,
        409: problem(
          'The account has its maximum',
          domainErrors.too_many_watches(MAX_WATCHES),
          domainErrors.too_many_shared_watches(0),
          domainErrors.too_many_account_destinations(0),
        ),
      },
    },
    async handle({ values, identity }) {
      const { name, changes, url, to, atom, shared: isShared, language, digest, dns, ...others } = values
      if (name === undefined) throw missingParameter('name')
      const { day, destinations } = splitTo(to)
      const filters = { ...others, to: day, dns: undefined }
      readFilters(filters)
      const made = await watches.create(identity.accountId, {
        name,
        filters: serializeFilters(filters),
        dns,
        changes,
        webhook: url,
        hasAtomFeed: atom,
        isShared: isShared === 1,
        isPaused: false,
        to: destinations,
        language,
        digest,
      })
      return shownOnce(made.id, made, baseUrl)
    },
  })

  simpleEndpoint(app, shared, {
    ...base,
    methods: ['GET'],
    scopes: ['read', 'write'],
    parameters: {},
    document: {
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
      summary: 'Delete a watch',
      description: 'Its webhooks stop and its feed is removed.',
      answers: {
        200: watchAnswer,
        403: problem('Another account shares the watch', domainErrors.owner_only()),
        404: watchGone,
      },
    },
    async handle({ values, identity }) {
      const id = watchId(values.id)
      if (!(await watches.remove(identity.accountId, id))) throw domainErrors.watch_not_found()
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
      summary: 'Send a test to the destinations of a watch',
      description:
        'Waits for their answers, at most 25 s. Deliveries to a destination that was given up resume if its test arrives. ' +
        'Ten tests of an account and twenty to a host pass, then ten and twenty a minute.',
      answers: {
        200: testAnswer,
        404: watchGone,
        429: problem('Too many tests', tooManyRequests()),
      },
    },
    async handle({ values, identity }) {
      const id = watchId(values.id)
      const data = await watches.test(identity.accountId, id)
      const [first] = data
      if (first === undefined) throw domainErrors.watch_not_found()
      // Of several destinations, the first one that failed.
      const { delivered, code, error } = data.find((one) => one.delivered === 0) ?? first
      return { status: 200, id, delivered, code, error, data }
    },
  })
}

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
          properties: { token: string('From the answer that created the watch') },
        },
        response: {
          200: { description: 'The feed', content: { [ATOM_TYPE]: { schema: string() } } },
          304: { description: 'The feed has not changed', type: 'null' },
          404: problem('No such feed', domainErrors.watch_not_found()),
        },
      },
    },
    async (request, reply) => {
      const found = await watches.atomFeed(request.params.token, pages.sheet, addressClient(request.ip))
      if (found === undefined) throw domainErrors.watch_not_found()
      const self = publicUrl(baseUrl, request.raw.url ?? '')
      return sendAtomFeed(request, reply, found.feed, { self, alternate: pages.view(found.filters) })
    },
  )
}
