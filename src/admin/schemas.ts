import { answer, array, integer, nullable, object, string } from '../http/openapi/json-schema.ts'
import { AUDIT_ACTIONS } from '../http/auth/queries-audit.ts'
import { ALL_SCOPES, SERVICES } from '../http/auth/key-limits.ts'

const ID = 'k7mq2x9apd'
const DATE = 1_767_619_230

const id = string({ description: 'Id of the key, which is not the key itself', examples: [ID] })
const account = string({ description: "The account's name", examples: ['fotos'] })
const service = string({ enum: SERVICES, description: 'Service that the key or account belongs to' })
const DELIVERY = ['open', 'ladder', 'presets', 'signed']
const limitOf = (unit: string) => nullable(integer(`Limit on its ${unit}; null for none`))
const delivery = string({ enum: DELIVERY, description: 'Delivery mode of its images' })
const seconds = (description: string) => integer(`${description}, seconds since 1970-01-01 UTC`)

const limits = {
  scope: string({ enum: ALL_SCOPES, description: 'Scope of the key' }),
  expires: nullable(seconds('When it expires; null for never')),
  rate: nullable(string({ description: 'Rate limit; null for none', examples: ['60/min'] })),
}
const EXAMPLE_LIMITS = { scope: 'read', expires: DATE + 7_776_000, rate: '60/min' }

export const accountsAnswer = answer(
  {
    count: integer(),
    data: array(
      object(
        {
          account,
          service,
          date: nullable(seconds('When it was created; null for administrators')),
          keys: integer('Number of its valid keys'),
          images: integer('Number of its images'),
          bytes: integer('Total size in bytes'),
          max_images: limitOf('images'),
          max_bytes: limitOf('bytes'),
          delivery: { ...nullable(delivery), enum: [...DELIVERY, null] },
          used: nullable(seconds('Last use of any of its keys, accurate to a few minutes')),
        },
        { title: 'Account' },
      ),
    ),
  },
  'The accounts',
  {
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
)

export const limitsAnswer = answer(
  {
    account,
    max_images: limitOf('images'),
    max_bytes: limitOf('bytes'),
    delivery,
  },
  'The new limits of the application',
  { account: 'fotos', max_images: 100_000, max_bytes: null, delivery: 'open' },
)

export const releasedAnswer = answer(
  { account, count: integer('Records that the account held until now') },
  'The records were released',
  { account: 'grupo', count: 20 },
)

export const keysAnswer = answer(
  {
    count: integer(),
    data: array(
      object(
        {
          id,
          account,
          service,
          date: seconds('When it was created'),
          used: nullable(seconds('Last use, accurate to a few minutes')),
          revoked: nullable(seconds('When it was revoked')),
          ...limits,
        },
        { title: 'Key' },
      ),
    ),
  },
  'The keys, without their secrets',
  {
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
)

export const createAnswer = answer(
  {
    id,
    key: string('The key, shown in this answer only'),
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

export const auditAnswer = answer(
  {
    count: integer('Entries returned'),
    data: array(
      object(
        {
          date: seconds('When it was done'),
          account: string('Account, or `cli:` and a user of the operating system, who did it'),
          key: nullable(string('Id of the key; null for a command')),
          action: string({ enum: AUDIT_ACTIONS, description: 'What was done' }),
          subject: string('To what it was done'),
        },
        { title: 'AuditEntry' },
      ),
      'The entries',
    ),
  },
  'The entries, the latest first',
  {
    count: 1,
    data: [
      {
        date: DATE,
        account: 'dueña',
        key: ID,
        action: 'key.create',
        subject: 'fotos (imagestore), key k7mq2x9apd',
      },
    ],
  },
)

export const doctorAnswer = answer(
  {
    data: array(
      object(
        {
          level: string({ enum: ['ok', 'warn', 'fail'] }),
          check: string({ description: 'What was looked at', examples: ['disk'] }),
          text: string('What was found, and what follows from it'),
          mend: nullable(string('Command or setting that mends it; null if nothing has to be mended')),
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
    started: seconds('When the process that answers was started'),
    time_zone: string({ examples: ['America/Santiago'] }),
    database: string({ enum: ['sqlite', 'postgres'] }),
    blobs: string({ enum: ['files', 's3'] }),
    ready: object({ database: { type: 'boolean' }, blobs: { type: 'boolean' } }),
    domains: integer('Records, including discarded ones'),
    images: integer('Images in the store; shared bytes count once'),
    bytes: integer('Total size in bytes'),
    settings: array(
      object({
        name: string('Environment variable of the setting'),
        value: string('Value with secrets removed; empty if not set'),
        from: string({ enum: ['flag', 'environment', 'file', 'default'], description: 'Where it was set' }),
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
  },
)
