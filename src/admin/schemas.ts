import { array, constant, integer, object, string, type JsonSchema } from '../http/json-schema.ts'
import { SERVICES } from '../http/authentication.ts'
import { ALL_SCOPES } from '../http/key-limits.ts'

const ID = 'k7mq2x9apd'
const DATE = 1_767_619_230

const id = string({ description: 'Names the key; it is not the key', examples: [ID] })
const account = string({ description: "The account's name", examples: ['fotos'] })
const service = string({ enum: SERVICES, description: 'What it opens' })
const DELIVERY = ['open', 'ladder', 'presets', 'signed']
const most = (of: string) =>
  orNull(integer({ description: `Most ${of} that it may hold; null for no bound` }))
const delivery = string({ enum: DELIVERY, description: 'How its images may be asked for' })
const seconds = (description: string) =>
  integer({ description: `${description}, seconds since 1970-01-01 UTC` })
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'], 'null'] })

const limits = {
  scope: string({ enum: ALL_SCOPES, description: 'What of the service the key opens' }),
  expires: orNull(seconds('When it expires; null for never')),
  rate: orNull(
    string({ description: 'How many requests it may make; null for no limit', examples: ['60/min'] }),
  ),
}
const EXAMPLE_LIMITS = { scope: 'read', expires: DATE + 7_776_000, rate: '60/min' }

export const accountsAnswer = object(
  {
    status: constant(200),
    count: integer(),
    data: array(
      object({
        account,
        service,
        date: orNull(seconds('When it was made; null for administrators')),
        keys: integer({ description: 'Keys that open the service' }),
        images: integer({ description: 'Images it holds' }),
        bytes: integer({ description: 'Bytes of them' }),
        max_images: most('images'),
        max_bytes: most('bytes'),
        delivery: { ...orNull(delivery), enum: [...DELIVERY, null] },
        used: orNull(seconds('Last use of any of its keys, to within some minutes')),
      }),
    ),
  },
  {
    description: 'The accounts',
    examples: [
      {
        status: 200,
        count: 1,
        data: [
          {
            account: 'fotos',
            service: 'imagestore',
            date: DATE,
            keys: 1,
            images: 12,
            bytes: 3_456_789,
            max_images: 100_000,
            max_bytes: null,
            delivery: 'open',
            used: DATE,
          },
        ],
      },
    ],
  },
)

export const settleAnswer = object(
  {
    status: constant(200),
    account,
    max_images: most('images'),
    max_bytes: most('bytes'),
    delivery,
  },
  {
    description: 'What holds for the application from now on',
    examples: [{ status: 200, account: 'fotos', max_images: 100_000, max_bytes: null, delivery: 'open' }],
  },
)

export const keysAnswer = object(
  {
    status: constant(200),
    count: integer(),
    data: array(
      object({
        id,
        account,
        service,
        date: seconds('When it was made'),
        used: orNull(seconds('Last use, to within some minutes')),
        revoked: orNull(seconds('When it was revoked')),
        ...limits,
      }),
    ),
  },
  {
    description: 'The keys, without what is secret',
    examples: [
      {
        status: 200,
        count: 1,
        data: [
          {
            id: ID,
            account: 'fotos',
            service: 'imagestore',
            date: DATE,
            used: DATE,
            revoked: null,
            ...EXAMPLE_LIMITS,
          },
        ],
      },
    ],
  },
)

export const createAnswer = object(
  {
    status: constant(200),
    id,
    key: string({ description: 'The key: it is shown this once' }),
    account,
    service,
    ...limits,
  },
  {
    description: 'The new key',
    examples: [
      {
        status: 200,
        id: ID,
        key: 'nq5c8v2m7wz4hk9xj3tbd6fg2ry8pae4',
        account: 'fotos',
        service: 'imagestore',
        ...EXAMPLE_LIMITS,
      },
    ],
  },
)

export const revokeAnswer = object(
  { status: constant(200), id },
  { description: 'It opens nothing any more', examples: [{ status: 200, id: ID }] },
)

export const systemAnswer = object(
  {
    status: constant(200),
    version: string({ examples: ['0.1.0'] }),
    started: seconds('When the process that answered was started'),
    time_zone: string({ examples: ['America/Santiago'] }),
    database: string({ enum: ['sqlite', 'postgres'] }),
    blobs: string({ enum: ['files', 's3'] }),
    ready: object({ database: { type: 'boolean' }, blobs: { type: 'boolean' } }),
    domains: integer({ description: 'Records, those that are discarded included' }),
    images: integer({ description: 'Images in the store; the same bytes count once' }),
    bytes: integer({ description: 'Bytes of them' }),
    settings: array(
      object({
        name: string({ description: 'Its variable' }),
        value: string({ description: 'Without what is secret in it; empty where nothing is set' }),
        from: string({ enum: ['flag', 'environment', 'file', 'default'], description: 'Where it was set' }),
      }),
      { description: 'The settings that the process which answered was started with' },
    ),
    figures: object(
      {},
      {
        description:
          "The service's own gauges and counters by their names in /metrics, of all processes on this machine",
        additionalProperties: { type: 'number' },
        examples: [{ catalejo_database_waiting_writes: 0 }],
      },
    ),
  },
  {
    description: 'How the service is',
    examples: [
      {
        status: 200,
        version: '0.1.0',
        started: DATE,
        time_zone: 'America/Santiago',
        database: 'sqlite',
        blobs: 'files',
        ready: { database: true, blobs: true },
        domains: 703_000,
        images: 12,
        bytes: 3_456_789,
        settings: [{ name: 'CATALEJO_PORT', value: '8080', from: 'default' }],
        figures: { catalejo_database_waiting_writes: 0 },
      },
    ],
  },
)
