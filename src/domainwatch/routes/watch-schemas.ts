import { domainErrors } from '../errors.ts'
import { hasAtMostCharacters, DISPLAY_NAME_TAKES, isDisplayName } from '../../lib/text.ts'
import {
  problem,
  answer,
  array,
  integer,
  object,
  optional,
  string,
  nullable,
  listAnswer,
} from '../../http/openapi/json-schema.ts'
import { badParameter } from '../../http/errors.ts'
import {
  choice,
  flag,
  integer as integerParameter,
  text,
  type Parameter,
  type Values,
} from '../../http/parameters.ts'
import { WATCH_CHOICES, EVENT_KINDS } from '../events/event.ts'
import { LANGUAGES } from '../texts.ts'
import { MAX_ADDRESS_CHARACTERS } from '../../deliveries/http-client.ts'
import { readFilters, serializeFilters, type SavedFilters } from '../filters.ts'
import type { EditedWatch, WatchEdit } from '../watches/edit-watch.ts'
import { watchFilters } from '../watches/watch-filters.ts'
import { MAX_DESTINATIONS, MAX_TO_CHARACTERS } from '../watches/destinations.ts'
import { domainRecord } from '../record-fields.ts'
import { CHANNEL_NAMES } from '../../deliveries/transport.ts'
import { SECRETS_OVERLAP_HOURS } from '../watches/index.ts'
import { DELIVERY_STATE_EXAMPLE, deliveryStateFields } from '../../deliveries/delivery-attempt.ts'
import { webhook } from '../../deliveries/webhook.ts'
import { bit } from '../schemas.ts'

export const WATCHES_PATH = '/api/v1/domainwatch/watches'
export const MAX_WATCH_NAME_CHARACTERS = 100

/** Selects a watch. */
export const which = {
  id: {
    ...text('Watch ID, of the account or shared by another', 100),
    required: true,
    example: 'k3J9x0aQ_-Zb',
  },
}

/** A name that members give to something. */
export function nameParameter(description: string, maxLength = MAX_WATCH_NAME_CHARACTERS): Parameter<string> {
  const takes = `debe ser un texto de 1 a ${maxLength} caracteres`
  return {
    ...text(description, maxLength),
    schema: { type: 'string', minLength: 1, maxLength },
    parse: (given) => {
      const value = given.trim()
      if (value === '' || !hasAtMostCharacters(value, maxLength)) return { takes }
      return isDisplayName(value) ? { value } : { takes: `${takes}, ${DISPLAY_NAME_TAKES}` }
    },
  }
}

/** What a new watch takes. */
export const watchParameters = {
  ...watchFilters,
  name: nameParameter('Name of the watch'),
  changes: choice(
    'Reported changes: new matches, all changes of matching records, or changes of their DNS',
    WATCH_CHOICES,
  ),
  url: text('Webhook address', MAX_ADDRESS_CHARACTERS),
  to: text(
    'Message destinations, separated by commas: `telegram:<chat id>`, `ntfy:<topic or URL>`, `discord:<webhook URL>`, ' +
      `\`slack:<webhook URL>\`, \`mailto:<address>\`; ${MAX_DESTINATIONS} at most, the webhook included. A day or a date and time among them is the filter ` +
      'of this name',
    MAX_TO_CHARACTERS,
  ),
  language: choice('Language of messages and Atom feed', LANGUAGES),
  digest: digestHour('Time of day of a daily message, instead of immediate messages', false),
  atom: flag('Create an Atom feed'),
  shared: integerParameter(
    'Whether the whole group sees the watch and edits its filters (1), or only its account (0)',
    0,
    1,
  ),
}

/** What an edit takes. */
export const editParameters = {
  ...which,
  ...watchParameters,
  url: text('Webhook address; empty for none', MAX_ADDRESS_CHARACTERS),
  digest: digestHour('Time of day of the one message of a day; empty for immediate messages', true),
  atom: flag('Whether the watch has an Atom feed'),
  paused: integerParameter(
    'Whether the watch is paused (1). Changes during a pause are not delivered later',
    0,
    1,
  ),
}

type GivenValues = Omit<Values<typeof editParameters>, 'id' | 'paused'> & {
  readonly paused?: number | undefined
}

/**
 * Returns the edit that a request asks for. A new watch is an edit of an empty one.
 * @throws HttpError 400
 */
export function watchEdit(given: GivenValues): WatchEdit {
  const { name, changes, url, to, atom, shared, paused, language, digest, dns, remind, ...others } = given
  const { day, destinations } = splitTo(to)
  return {
    name,
    filters: givenFilters({ ...others, to: day, dns: undefined, remind: undefined }),
    dns,
    remind,
    changes,
    webhook: url === '' ? null : url,
    hasAtomFeed: atom,
    isShared: shared === undefined ? undefined : shared === 1,
    isPaused: paused === undefined ? undefined : paused === 1,
    to: destinations,
    language,
    digest: digest === '' ? null : digest,
  }
}

/** Returns undefined if the request has no filter. An empty `search` lets every record through and is not kept. */
function givenFilters(given: Values<typeof watchFilters>): SavedFilters | undefined {
  const saved = serializeFilters(given)
  if (Object.keys(saved).length === 0) return undefined
  readFilters(given)
  const { search = '', ...others } = saved
  return search === '' ? others : saved
}

/**
 * Separates the date in `to`, the filter of that name, from the destinations.
 * @throws HttpError 400
 */
function splitTo(to: string | undefined) {
  if (to === undefined) return { day: undefined, destinations: undefined }
  const entries = to.split(',').map((entry) => entry.trim())
  const [day, ...more] = entries.filter((entry) => DAY.test(entry))
  if (day === undefined) return { day: undefined, destinations: to }
  const parsed = watchFilters.to.parse(day)
  if (more.length > 0 || 'takes' in parsed) throw badParameter('to', TAKES_DAY)
  const destinations = entries.filter((entry) => entry !== day)
  return { day: parsed.value, destinations: destinations.length === 0 ? undefined : destinations.join(',') }
}
const DAY = /^\d{4}-/
const TAKES_DAY = 'debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan'

/** HH:MM, or empty if `takesNone`. */
function digestHour(description: string, takesNone: boolean): Parameter<string> {
  const pattern = takesNone ? /^(([01]\d|2[0-3]):[0-5]\d)?$/ : /^([01]\d|2[0-3]):[0-5]\d$/
  return {
    required: false,
    description,
    schema: { type: 'string', pattern: pattern.source },
    parse: (given) => (pattern.test(given) ? { value: given } : { takes: 'debe ser una hora (HH:MM)' }),
  }
}

export const watchGone = problem('The account has access to no such watch', domainErrors.watch_not_found())

export const watchRefused = problem(
  'A parameter is invalid, or names a channel that the operator has not configured',
  domainErrors.channel_not_configured('telegram'),
  domainErrors.destination_missing(),
  domainErrors.too_many_destinations(MAX_DESTINATIONS),
)

/** The answer with what is shown once: the secret of a new webhook, and the address of a new Atom feed. */
export function shownOnce(id: string, { secret, atomToken }: EditedWatch, baseUrl: () => string) {
  const atom = atomToken === undefined ? null : `${baseUrl()}/w/${atomToken}.atom`
  return { status: 200, id, secret: secret ?? null, atom }
}

const id = string('Watch ID')

const SHOWN = {
  id: 'q0Zl3vXW8b1k',
  name: 'Nombres cortos que quedan libres',
  filters: { max_length: '4', status: '0' },
  changes: 'new',
  owner: 'grupo',
  shared: 0,
  paused: 0,
  created: '2026-01-05T13:20:30.000Z',
  url: null,
  to: 'telegram:-1001234567890,discord:https://discord.com/…',
  language: 'es',
  digest: '09:00',
  next_digest: '2026-01-07T12:00:00.000Z',
  atom: 0,
  ...DELIVERY_STATE_EXAMPLE,
  destinations: [
    { channel: 'telegram', to: 'telegram:-1001234567890', ...DELIVERY_STATE_EXAMPLE },
    { channel: 'discord', to: 'discord:https://discord.com/…', ...DELIVERY_STATE_EXAMPLE },
  ],
}

export const watchStored = answer(
  {
    id,
    secret: nullable(
      string('Secret of a webhook that this request added; null otherwise. Returned only in this response'),
    ),
    atom: nullable(
      string(
        'Address of an Atom feed that this request added; null otherwise. Returned only in this response',
      ),
    ),
  },
  'The watch was stored',
  { id: SHOWN.id, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0Q8YkZ0m3nE=', atom: null },
)

export const watchesAnswer = listAnswer(
  object(
    {
      id,
      name: string(),
      filters: {
        type: 'object',
        additionalProperties: string(),
        description: 'Filters as given; the value of a flag is empty',
      },
      changes: string({ enum: WATCH_CHOICES }),
      owner: string('Account that created the watch'),
      shared: bit('Whether the whole group sees the watch and edits its filters'),
      paused: bit('Whether the watch is paused'),
      created: string(),
      url: nullable(string('Webhook address; `…` for accounts that do not own the watch')),
      to: nullable(
        string(
          'Message destinations, without secret parts; for accounts that do not own the watch, without addresses',
        ),
      ),
      language: string({ enum: LANGUAGES }),
      digest: nullable(string('Time of day of the daily message; null for immediate messages')),
      next_digest: nullable(string('Time of the next daily message; null while it is not scheduled')),
      atom: bit('Whether the watch has an Atom feed'),
      ...deliveryStateFields,
      destinations: array(
        object({
          channel: string({ enum: CHANNEL_NAMES }),
          to: string('Destination as in `to`; a webhook shows its address'),
          confirmed: optional(
            bit(
              'Whether the reader confirmed the mail address, before which nothing else is sent; only for mail addresses',
            ),
          ),
          ...deliveryStateFields,
        }),
        'Per-destination state; top-level fields show the worst or latest',
      ),
    },
    { title: 'Watch' },
  ),
  { description: 'Watches of the account and those that others share, the oldest first' },
  SHOWN,
)

export const secretRotated = answer(
  {
    id,
    secret: string('New secret. Returned only in this response'),
    until: string('End of the previous secret, in the time zone of the service'),
    until_utc: string('End of the previous secret, in UTC (RFC 3339)'),
  },
  `The secret was replaced; both secrets sign for ${SECRETS_OVERLAP_HOURS} hours`,
  {
    id: SHOWN.id,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0Q8YkZ0m3nE=',
    until: '2026-01-07 06:00:00',
    until_utc: '2026-01-07T09:00:00.000Z',
  },
)

export const watchAnswer = answer({ id }, 'The watch was deleted', { id: SHOWN.id })

const ARRIVED = { delivered: 1, code: 204, error: null }

const outcomeFields = {
  delivered: bit('Whether the test arrived'),
  code: nullable(integer('Status of the response; null without a response')),
  error: nullable(string('Error message; null if the test arrived')),
}

export const testAnswer = answer(
  {
    id,
    ...outcomeFields,
    data: array(
      object({ channel: string({ enum: CHANNEL_NAMES }), to: string(), ...outcomeFields }),
      'Per-destination result; top-level fields show the first failure, or the first destination',
    ),
  },
  'Result of the test',
  {
    id: SHOWN.id,
    ...ARRIVED,
    data: [{ channel: 'webhook', to: 'webhook:https://example.cl/avisos', ...ARRIVED }],
  },
)

const notified = object(
  { id, name: string() },
  { title: 'NotifiedWatch', description: 'Watch that notifies' },
)

const domainEvent = object(
  {
    event: string({ enum: [...EVENT_KINDS, 'reminder'] }),
    at: string('Time of the change, in UTC (RFC 3339)'),
    account: nullable(string('Account that made the change; null if no account did')),
    record: domainRecord,
    before: {
      anyOf: [domainRecord, { type: 'null' }],
      description: 'Record before the change; null if it was added',
    },
    dns: optional({ type: 'object', description: 'DNS records before and after the change' }),
    object_until: optional(string('End of the time for objections; only in reminders')),
    resembles: optional(string('Name of the filter `similar` that the record resembles')),
  },
  { title: 'DomainEvent', description: 'Change of a record' },
)

/** What receivers of webhooks get. */
export const watchWebhooks = {
  domainsChanged: webhook('domains.changed', 'Records changed', {
    watch: notified,
    count: integer('Number of changes'),
    changes: array(domainEvent),
  }),
  domainsGap: webhook('domains.gap', 'Changes were missed', {
    watch: notified,
    msg: string('Message for people'),
  }),
  watchTest: webhook('watch.test', 'Test that a user requested', {
    watch: notified,
    msg: string('Message for people'),
  }),
}
