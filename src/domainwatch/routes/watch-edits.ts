import { localDateTime } from '../../lib/dates.ts'
import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { integer, text, type Parameter, type Values } from '../../http/parameters.ts'
import { readFilters } from '../filters.ts'
import { MAX_ADDRESS_CHARACTERS } from '../outgoing/connect.ts'
import { secretRotated, watchEdited } from '../schemas-watches.ts'
import type { Subscriptions } from '../subscriptions.ts'
import { domainErrors } from '../errors.ts'
import { MAX_SHARED } from '../watches/edit-watch.ts'
import { SECRETS_OVERLAP_HOURS } from '../watches/index.ts'
import { serializeFilters, type watchFilters, type SavedFilters } from '../watches/watch-filters.ts'
import {
  digestHour,
  splitTo,
  watchGone,
  watchRefused,
  watchId,
  watchParameters,
  WATCHES_PATH,
  which,
  shownOnce,
} from './watch-parameters.ts'

const parameters = {
  ...which,
  ...watchParameters,
  url: text('Where webhooks are sent; empty for none', MAX_ADDRESS_CHARACTERS),
  digest: digestHour('A time of day: one message per day then; empty for immediate messages', true),
  atom: switched('Whether there is an Atom feed'),
  paused: integer('Whether it is paused (1). Events during a pause are not delivered later', 0, 1),
}

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
    parameters,
    document: {
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
          'The group has the maximum of shared watches',
          domainErrors.too_many_shared_watches(MAX_SHARED),
          domainErrors.too_many_account_destinations(0),
        ),
      },
    },
    async handle({ values, identity }) {
      const {
        id,
        name,
        changes,
        url,
        atom,
        shared: isShared,
        paused,
        dns,
        to,
        language,
        digest,
        ...others
      } = values
      const { day, destinations } = splitTo(to)
      const filters = { ...others, to: day }
      const edited = await watches.edit(identity.accountId, watchId(id), {
        name,
        filters: newFilters(filters),
        dns,
        changes,
        webhook: url === '' ? null : url,
        hasAtomFeed: atom === false ? undefined : atom === true,
        isShared: isShared === undefined ? undefined : isShared === 1,
        isPaused: paused === undefined ? undefined : paused === 1,
        to: destinations,
        language,
        digest: digest === '' ? null : digest,
      })
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
      summary: 'Replace the secret of a watch',
      description: `The new secret is returned only in this response. For ${SECRETS_OVERLAP_HOURS} hours webhooks carry a signature by each secret, the new one first.`,
      answers: {
        200: secretRotated,
        403: problem('Another account shares the watch', domainErrors.owner_only()),
        404: watchGone,
        409: problem('It has no webhook', domainErrors.webhook_missing()),
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

/**
 * Returns undefined if the request has no filter. An empty `search` lets every record through and is not kept.
 * `dns` is not a filter, so it replaces none.
 */
function newFilters(values: Omit<Values<typeof watchFilters>, 'dns'>): SavedFilters | undefined {
  const given = { ...values, dns: undefined }
  const saved = serializeFilters(given)
  if (Object.keys(saved).length === 0) return undefined
  readFilters(given)
  const { search = '', ...others } = saved
  return search === '' ? others : saved
}

/** A flag that `0` turns off. Absent, it changes nothing. */
function switched(description: string): Parameter<true | 0> {
  return {
    required: false,
    description: `${description} (flag: on when present; \`0\` for off)`,
    schema: { type: 'string', 'x-flag': true },
    parse: (given) => ({ value: given === '0' ? 0 : true }),
  }
}
