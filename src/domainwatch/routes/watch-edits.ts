import { localDateTime } from '../../lib/dates.ts'
import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { secretRotated, watchEdited } from '../schemas-watches.ts'
import type { Subscriptions } from '../subscriptions.ts'
import { domainErrors } from '../errors.ts'
import { MAX_SHARED } from '../watches/edit-watch.ts'
import { SECRETS_OVERLAP_HOURS } from '../watches/index.ts'
import {
  editParameters,
  watchEdit,
  watchGone,
  watchRefused,
  watchId,
  WATCHES_PATH,
  which,
  shownOnce,
} from './watch-parameters.ts'

export function watchEditRoutes(
  app: HttpServer,
  shared: EndpointShared,
  { watches }: Subscriptions,
  { baseUrl, timeZone }: { readonly baseUrl: () => string; readonly timeZone: string },
) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    path: `${WATCHES_PATH}/update`,
    methods: ['POST'],
    scopes: ['write'],
    parameters: editParameters,
    document: {
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
    },
    async handle({ values, identity }) {
      const { id, ...given } = values
      const edited = await watches.edit(identity.accountId, watchId(id), watchEdit(given))
      if (edited === undefined) throw domainErrors.watch_not_found()
      return shownOnce(watchId(id), edited, baseUrl)
    },
  })

  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    path: `${WATCHES_PATH}/rotate`,
    methods: ['POST'],
    scopes: ['write'],
    parameters: which,
    document: {
      operation: 'rotateWatchSecret',
      summary: 'Replace the secret of a watch',
      description: `Returns the new secret, only in this response. For ${SECRETS_OVERLAP_HOURS} hours, webhooks have a signature by each secret, the new one first.`,
      answers: {
        200: secretRotated,
        403: problem('Another account shares the watch', domainErrors.owner_only()),
        404: watchGone,
        409: problem('The watch has no webhook', domainErrors.webhook_missing()),
      },
    },
    async handle({ values, identity }) {
      const id = watchId(values.id)
      const rotated = await watches.rotate(identity.accountId, id)
      if (rotated === undefined) throw domainErrors.watch_not_found()
      const { secret, until } = rotated
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
