import { WATCH_CHOICES } from './events/event.ts'
import { LANGUAGES } from './events/atom-texts.ts'
import { CHANNEL_NAMES } from './watches/channels/channel.ts'
import { SECRETS_OVERLAP_HOURS } from './watches/edit-watch.ts'
import { array, constant, integer, object, string, nullable } from '../http/openapi/json-schema.ts'
import { bit } from './schemas.ts'

const id = string({ description: 'Of the watch' })

const DELIVERED = {
  state: 'active',
  pending: 0,
  attempts: 0,
  next_attempt: null,
  last_delivery: '2026-01-06T09:00:01.250Z',
  last_error: null,
  last_error_at: null,
}

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
  ...DELIVERED,
  destinations: [
    { channel: 'telegram', to: 'telegram:-1001234567890', ...DELIVERED },
    { channel: 'discord', to: 'discord:https://discord.com/…', ...DELIVERED },
  ],
}

export const watchMade = object(
  {
    status: constant(200),
    id,
    secret: nullable(
      string({ description: 'Webhooks are signed with it; null without webhook. Shown this once' }),
    ),
    atom: nullable(string({ description: 'Address of the feed; null without feed. Shown this once' })),
  },
  {
    description: 'The watch was created',
    examples: [
      { status: 200, id: SHOWN.id, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0Q8YkZ0m3nE=', atom: null },
    ],
  },
)

/** The state of deliveries to one destination. */
const deliveryState = {
  state: string({ enum: ['active', 'dead'], description: '`dead`: the receiver was given up' }),
  pending: bit('Whether a delivery is in progress'),
  attempts: integer({ description: 'Failed attempts of that delivery' }),
  next_attempt: nullable(string({ description: 'When it is tried again' })),
  last_delivery: nullable(string({ description: 'When one last arrived' })),
  last_error: nullable(string({ description: 'The error since then' })),
  last_error_at: nullable(string({ description: 'When' })),
}

export const watchesAnswer = object(
  {
    status: constant(200),
    count: integer(),
    data: array(
      object({
        id,
        name: string(),
        filters: {
          type: 'object',
          additionalProperties: string(),
          description: 'As they were given; flags are empty',
        },
        changes: string({ enum: WATCH_CHOICES }),
        owner: string({ description: 'Account that created it' }),
        shared: bit('Whether the whole group sees and edits it'),
        paused: bit('Whether it is paused'),
        created: string(),
        url: nullable(string({ description: 'Where webhooks are sent' })),
        to: nullable(
          string({ description: 'Where messages are sent, without the secret parts of addresses' }),
        ),
        language: string({ enum: LANGUAGES }),
        digest: nullable(
          string({ description: 'Time of day of the one message of a day; null for messages as it comes' }),
        ),
        next_digest: nullable(
          string({ description: 'When the next one is due; null while it is not scheduled' }),
        ),
        atom: bit('Whether there is a feed'),
        ...deliveryState,
        destinations: array(
          object({
            channel: string({ enum: CHANNEL_NAMES }),
            to: string({ description: 'As in `to`, without secrets; of a webhook, its address' }),
            ...deliveryState,
          }),
          { description: 'The state of each; above, the worst or latest of all' },
        ),
      }),
    ),
  },
  {
    description: 'All watches of the account and those that others share, the oldest first',
    examples: [{ status: 200, count: 1, data: [SHOWN] }],
  },
)

export const watchEdited = object(
  {
    status: constant(200),
    id,
    secret: nullable(string({ description: 'Of a webhook that the edit added; else null. Shown this once' })),
    atom: nullable(
      string({ description: 'Address of a feed that the edit added; else null. Shown this once' }),
    ),
  },
  {
    description: 'The watch was edited',
    examples: [{ status: 200, id: SHOWN.id, secret: null, atom: null }],
  },
)

export const secretRotated = object(
  {
    status: constant(200),
    id,
    secret: string({ description: 'The new secret. Shown this once' }),
    until: string({ description: 'When the previous one stops signing, in the time zone of the service' }),
    until_utc: string({ description: 'The same in UTC (RFC 3339)' }),
  },
  {
    description: `Both secrets sign for ${SECRETS_OVERLAP_HOURS} hours`,
    examples: [
      {
        status: 200,
        id: SHOWN.id,
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0Q8YkZ0m3nE=',
        until: '2026-01-07 06:00:00',
        until_utc: '2026-01-07T09:00:00.000Z',
      },
    ],
  },
)

export const watchAnswer = object(
  { status: constant(200), id },
  { description: 'The watch was deleted', examples: [{ status: 200, id: SHOWN.id }] },
)

const ARRIVED = { delivered: 1, code: 204, error: null }

export const testAnswer = object(
  {
    status: constant(200),
    id,
    delivered: integer({ minimum: 0, maximum: 1 }),
    code: nullable(integer({ description: 'Status that the receiver answered' })),
    error: nullable(string({ description: 'The error' })),
    data: array(
      object({
        channel: string({ enum: CHANNEL_NAMES }),
        to: string(),
        delivered: bit('Whether it arrived'),
        code: nullable(integer({ description: 'Status that the receiver answered' })),
        error: nullable(string({ description: 'The error' })),
      }),
      { description: 'Of each destination; above, of the first that failed, or of the first' },
    ),
  },
  {
    description: 'Result of the test',
    examples: [
      {
        status: 200,
        id: SHOWN.id,
        ...ARRIVED,
        data: [{ channel: 'webhook', to: 'webhook:https://example.cl/avisos', ...ARRIVED }],
      },
    ],
  },
)
