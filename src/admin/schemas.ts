import { ALL_SCOPES, SERVICES } from '../http/auth/key-limits.ts'
import { AUDIT_ACTIONS } from '../http/auth/queries.ts'
import { answer, array, integer, nullable, object, string, listAnswer } from '../http/openapi/json-schema.ts'
import { declareErrors } from '../lib/errors.ts'

/** Errors of the admin API. Clients rely on codes: one is never renamed, and `docs/api` lists them all. */
export const adminErrors = declareErrors({
  account_not_found: [404, 'La cuenta no existe'],
  account_of_other_service: [
    409,
    (account: string, service: string) => `La cuenta ${account} es del servicio ${service}`,
  ],
  key_not_found: [404, 'La clave no existe'],
})

const ID = 'k7mq2x9apd'
const DATE = 1_767_619_230

const id = string({ description: 'ID of the key, which is not the key itself', examples: [ID] })
const account = string({ description: "The account's name", examples: ['fotos'] })
const service = string({ enum: SERVICES, description: 'Service that the key or account belongs to' })
const DELIVERY = ['open', 'ladder', 'presets', 'signed']
const getLimit = (unit: string) => nullable(integer(`Quota of ${unit} of the account; null if unlimited`))
const delivery = string({ enum: DELIVERY, description: 'Delivery mode of the images of the account' })
const seconds = (description: string) => integer(`${description}, in seconds since 1970-01-01 UTC`)

const limits = {
  scope: string({ enum: ALL_SCOPES, description: 'Scope of the key' }),
  expires: nullable(seconds('Expiry time, or null for never')),
  rate: nullable(string({ description: 'Rate limit; null for none', examples: ['60/min'] })),
}
const EXAMPLE_LIMITS = { scope: 'read', expires: DATE + 7_776_000, rate: '60/min' }

export const accountsAnswer = listAnswer(
  object(
    {
      account,
      service,
      date: nullable(seconds('Creation time, or null for administrators')),
      keys: integer('Number of valid keys of the account'),
      images: integer('Number of images of the account'),
      bytes: integer('Total size in bytes'),
      max_images: getLimit('images'),
      max_bytes: getLimit('bytes'),
      delivery: { ...nullable(delivery), enum: [...DELIVERY, null] },
      used: nullable(seconds('Last use of any key of the account, accurate to a few minutes')),
    },
    { title: 'Account' },
  ),
  { description: 'The accounts' },
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
)

export const limitsAnswer = answer(
  {
    account,
    max_images: getLimit('images'),
    max_bytes: getLimit('bytes'),
    delivery,
  },
  'The new limits of the application',
  { account: 'fotos', max_images: 100_000, max_bytes: null, delivery: 'open' },
)

export const releasedAnswer = answer(
  { account, count: integer('Number of records that the account held until now') },
  'The records were released',
  { account: 'grupo', count: 20 },
)

export const keysAnswer = listAnswer(
  object(
    {
      id,
      account,
      service,
      date: seconds('Creation time'),
      used: nullable(seconds('Last use, accurate to a few minutes')),
      revoked: nullable(seconds('Time of the revocation, or null')),
      ...limits,
    },
    { title: 'Key' },
  ),
  { description: 'The keys, without their secrets' },
  {
    id: ID,
    account: 'fotos',
    service: 'imagestore',
    date: DATE,
    used: DATE,
    revoked: null,
    ...EXAMPLE_LIMITS,
  },
)

export const createAnswer = answer(
  {
    id,
    key: string('Key, returned only in this response'),
    account,
    service,
    ...limits,
  },
  'The new key',
  {
    id: ID,
    key: 'nq5c8v2m7wz4hk9xj3tbd6fg2ry8pae4',
    account: 'fotos',
    service: 'imagestore',
    ...EXAMPLE_LIMITS,
  },
)

export const revokeAnswer = answer({ id }, 'The key was revoked', { id: ID })

export const auditAnswer = listAnswer(
  object(
    {
      date: seconds('Time of the action'),
      account: string('Account that acted, or `cli:` and a user of the operating system'),
      key: nullable(string('ID of the key; null for a command')),
      action: string({ enum: AUDIT_ACTIONS, description: 'Kind of action' }),
      subject: string('What the action was about, such as an ID or a name'),
    },
    { title: 'AuditEntry' },
  ),
  { count: 'Number of entries returned', data: 'The entries', description: 'The entries, the latest first' },
  {
    date: DATE,
    account: 'dueña',
    key: ID,
    action: 'key.create',
    subject: 'fotos (imagestore), key k7mq2x9apd',
  },
)

export const doctorAnswer = answer(
  {
    data: array(
      object(
        {
          level: string({ enum: ['ok', 'warn', 'fail'] }),
          check: string({ description: 'Name of the check', examples: ['disk'] }),
          text: string('Finding and its consequence'),
          mend: nullable(string('Command or setting that solves the problem; null if there is none')),
        },
        { title: 'Finding' },
      ),
      'The findings, in a fixed order of checks',
    ),
  },
  'The findings',
  {
    data: [
      {
        level: 'warn',
        check: 'backups',
        text: 'there are no regular backups',
        mend: 'set --backup-to, and run catalejo backup drill after the first one',
      },
    ],
  },
)

export const systemAnswer = answer(
  {
    version: string({ examples: ['0.1.0'] }),
    started: seconds('Start time of the process that answers'),
    time_zone: string({ examples: ['America/Santiago'] }),
    database: string({ enum: ['sqlite', 'postgres'] }),
    blobs: string({ enum: ['files', 's3'] }),
    ready: object({ database: { type: 'boolean' }, blobs: { type: 'boolean' } }),
    domains: integer('Number of records, including discarded ones'),
    images: integer('Number of images in the store; shared bytes count once'),
    bytes: integer('Total size in bytes'),
    settings: array(
      object({
        name: string('Environment variable of the setting'),
        value: string('Value with secrets removed; empty if not set'),
        from: string({
          enum: ['flag', 'environment', 'file', 'default'],
          description: 'Source of the value',
        }),
      }),
      'Settings of the answering process',
    ),
    figures: object(
      {},
      {
        description:
          "The service's own gauges and counters by their names in /metrics, summed over all processes of this machine",
        additionalProperties: { type: 'number' },
        examples: [{ catalejo_database_waiting_writes: 0 }],
      },
    ),
    last_hour: object(
      {},
      {
        description:
          'Values of each gauge and counter in `figures` at each minute of the last hour, oldest first; only since the process was started',
        additionalProperties: { type: 'array', items: { type: 'number' } },
        examples: [{ catalejo_database_waiting_writes: [0, 2, 0] }],
      },
    ),
  },
  'The state of the service',
  {
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
    last_hour: { catalejo_database_waiting_writes: [0, 2, 0] },
  },
)
