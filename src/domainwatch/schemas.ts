import { Type } from 'typebox'

const bit = (description: string) => Type.Integer({ minimum: 0, maximum: 1, description })
const dateTime = (description: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
    description,
    examples: ['2025-12-31 14:30:34'],
  })

const domainRecord = Type.Object({
  name: Type.String({ description: 'Name without the `.cl` suffix', examples: ['ñandú'] }),
  length: Type.Integer({ description: 'Characters of the name' }),
  agent: Type.String({ description: 'Who recorded it' }),
  status: bit('Bought (1) or not (0)'),
  reserved: bit('Reserved (1) or not (0)'),
  revision: bit('Marked for review'),
  discarded: bit('Marked as discarded: deletes itself after 7 days'),
  date_reg: dateTime('When it was registered'),
  date_mod: dateTime('When the record last changed, in the time zone of the service'),
})

export const listAnswer = Type.Object(
  {
    status: Type.Literal(200),
    count: Type.Integer({ description: 'Records returned' }),
    query: Type.String({ description: 'The search text in lower case' }),
    data: Type.Array(Type.Array(domainRecord), { description: 'One array that holds the records' }),
  },
  {
    description: 'The records',
    examples: [
      {
        status: 200,
        count: 1,
        query: 'cata',
        data: [
          [
            {
              name: 'catalejo',
              length: 8,
              agent: 'grupo',
              status: 1,
              reserved: 0,
              revision: 0,
              discarded: 0,
              date_reg: '2025-12-31 14:30:34',
              date_mod: '2025-12-31 15:00:00',
            },
          ],
        ],
      },
    ],
  },
)

const agent = Type.Optional(
  Type.String({ minLength: 1, maxLength: 100, description: "Instead of the account's name" }),
)

export const addBody = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        domain: Type.String({ description: 'Name without the `.cl` suffix', examples: ['catalejo'] }),
        length: Type.Integer({ description: 'Characters of the name', examples: [8] }),
        reserve: bit('Reserved (1) or not (0)'),
        status: bit('Bought (1) or not (0)'),
        date_reg: dateTime('When it was registered'),
        agent,
      }),
      { maxItems: 50_000, description: 'The records' },
    ),
  },
  {
    examples: [
      { data: [{ domain: 'catalejo', length: 8, reserve: 0, status: 1, date_reg: '2025-12-31 14:30:34' }] },
    ],
  },
)

export const updateBody = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        domain: Type.String({ description: 'Name of a recorded domain, without the `.cl` suffix' }),
        revision: Type.Optional(bit('Mark (1) for review or unmark (0)')),
        discarded: Type.Optional(bit('Discard (1) or take back (0)')),
        reserve: Type.Optional(bit('Reserved (1) or not (0)')),
        status: Type.Optional(bit('Bought (1) or not (0)')),
        agent,
      }),
      { maxItems: 50_000, description: 'The marks' },
    ),
  },
  { examples: [{ data: [{ domain: 'catalejo', discarded: 1 }] }] },
)

export const storedAnswer = Type.Object(
  { status: Type.Literal(200), count: Type.Integer({ description: 'Records stored' }) },
  { description: 'All of it is stored', examples: [{ status: 200, count: 2 }] },
)

const batchAnswer = (
  status: number,
  description: string,
  msg: string,
  errors: readonly { index: number; field: string; msg: string }[],
) =>
  Type.Object(
    {
      status: Type.Literal(status),
      count: Type.Literal(0),
      msg: Type.String(),
      errors: Type.Array(Type.Object({ index: Type.Integer(), field: Type.String(), msg: Type.String() }), {
        description: 'The bad records, at most the first 100',
      }),
    },
    { description, examples: [{ status, count: 0, msg, errors }] },
  )

export const batchProblem = batchAnswer(500, 'Nothing of the batch is stored', 'Hay 1 registro con errores', [
  { index: 0, field: 'length', msg: 'Falta el campo length' },
])

export const unreadableBatch = batchAnswer(
  400,
  '`data` is missing or cannot be read',
  'Falta el parámetro data',
  [],
)

const dnsFields = {
  domain: Type.String({ description: 'As requested' }),
  dns: Type.Array(Type.String(), { description: 'Host names of the name servers' }),
}

export const dnsAnswer = Type.Object(
  { status: Type.Literal(200), ...dnsFields },
  {
    description: 'The name exists',
    examples: [{ status: 200, domain: 'nic.cl', dns: ['a.nic.cl', 'b.nic.cl'] }],
  },
)

export const dnsProblem = (description: string, status: number, msg: string) =>
  Type.Object(
    { status: Type.Integer(), ...dnsFields, msg: Type.String() },
    { description, examples: [{ status, domain: 'nic.cl', dns: [], msg }] },
  )
