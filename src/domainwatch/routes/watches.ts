import type { HttpServer } from '../../http/server.ts'
import { missingParameter } from '../../http/errors.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem, string } from '../../http/openapi/json-schema.ts'
import {
  testAnswer,
  watchesAnswer,
  watchAnswer,
  watchMade,
  secretRotated,
  watchEdited,
} from '../schemas-watches.ts'
import { domainErrors } from '../errors.ts'
import { MAX_WATCHES, SECRETS_OVERLAP_HOURS } from '../watches/index.ts'
import {
  watchEdit,
  watchGone,
  watchRefused,
  watchParameters,
  WATCHES_PATH,
  which,
  shownOnce,
  editParameters,
} from './watch-parameters.ts'
import { addressClient } from '../../http/client.ts'
import { publicUrl } from '../../http/headers.ts'
import { ConsoleLinks } from '../console-links.ts'
import { ATOM_TYPE, sendAtomFeed } from '../events/atom.ts'
import { localDateTime } from '../../lib/dates.ts'
import { MAX_SHARED } from '../watches/edit-watch.ts'
import type { DomainServices } from '../services.ts'

const parameters = {
  ...watchParameters,
  name: { ...watchParameters.name, required: true, example: 'Nombres cortos' },
}

export function watchesRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { baseUrl, following: { watches } }: DomainServices,
): void {
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
      200: watchMade,
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
}

/** The Atom feed of a watch. Needs no key: the address is the secret. */
export function watchAtomRoute(
  app: HttpServer,
  _shared: EndpointShared,
  { baseUrl, following: { watches } }: DomainServices,
): void {
  const pages = new ConsoleLinks(baseUrl)
  app.get<{ Params: { token: string } }>(
    '/w/:token.atom',
    {
      schema: {
        tags: ['domainwatch'],
        operationId: 'getWatchFeed',
        summary: 'Read the Atom feed of a watch',
        description:
          'Needs no key, because the address is secret. It stops working when the watch is deleted.',
        params: {
          type: 'object',
          properties: {
            token: string('Secret part of the address that was returned when the Atom feed was created'),
          },
        },
        response: {
          200: { description: 'Atom feed', content: { [ATOM_TYPE]: { schema: string() } } },
          304: { description: 'Not modified', type: 'null' },
          404: problem('There is no such Atom feed', domainErrors.watch_not_found()),
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

export function watchEditRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { baseUrl, following: { watches }, timeZone }: DomainServices,
): void {
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
      200: watchEdited,
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
}
