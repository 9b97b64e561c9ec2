import { EVENT_KINDS, WATCH_CHOICES } from './events/event.ts'
import { domainRecord } from './record-fields.ts'
import { LANGUAGES } from './texts.ts'
import { CHANNEL_NAMES } from '../deliveries/transport.ts'
import { SECRETS_OVERLAP_HOURS } from './watches/index.ts'
import { answer, array, integer, object, optional, string, nullable } from '../http/openapi/json-schema.ts'
import { DELIVERY_STATE_EXAMPLE, deliveryStateFields, webhook } from '../deliveries/delivery-state.ts'
import { bit } from './schemas.ts'

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

export const watchMade = answer(
  {
    id,
    secret: nullable(
      string('Secret that signs webhooks; null without a webhook. Returned only in this response'),
    ),
    atom: nullable(string('Atom feed address; null without an Atom feed. Returned only in this response')),
  },
  'The watch was created',
  { id: SHOWN.id, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0Q8YkZ0m3nE=', atom: null },
)

export const watchesAnswer = answer(
  {
    count: integer(),
    data: array(
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
    ),
  },
  'Watches of the account and those that others share, the oldest first',
  { count: 1, data: [SHOWN] },
)

export const watchEdited = answer(
  {
    id,
    secret: nullable(
      string('Secret of a webhook that this edit added; null otherwise. Returned only in this response'),
    ),
    atom: nullable(
      string('Address of an Atom feed that this edit added; null otherwise. Returned only in this response'),
    ),
  },
  'The watch was edited',
  { id: SHOWN.id, secret: null, atom: null },
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

export const testAnswer = answer(
  {
    id,
    delivered: integer({ minimum: 0, maximum: 1 }),
    code: nullable(integer('Status of the response; null without a response')),
    error: nullable(string('Error message; null if the test arrived')),
    data: array(
      object({
        channel: string({ enum: CHANNEL_NAMES }),
        to: string(),
        delivered: bit('Whether the test arrived'),
        code: nullable(integer('Status of the response; null without a response')),
        error: nullable(string('Error message; null if the test arrived')),
      }),
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
