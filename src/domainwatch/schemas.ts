import { array, constant, integer, number, object, optional, string } from '../http/openapi/json-schema.ts'
import { MISSING_DATA } from './data-field.ts'
import { EVENT_KINDS } from './events/event.ts'
import { REASONS } from '../lib/lookalikes/index.ts'
import { DISCARDED_RETENTION_DAYS, MAX_BATCH_RECORDS, MAX_DNS_NAMES } from './limits.ts'
import { furtherFields } from './record-fields.ts'
import { countOfFaults, MAX_AGENT_LENGTH, MAX_FAULTS } from './parse-record.ts'

export const bit = (description: string) => integer({ minimum: 0, maximum: 1, description })
export const dateTime = (description: string) =>
  string({
    pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
    description,
    examples: ['2025-12-31 14:30:34'],
  })

export const recordFields = {
  name: string({ description: 'Name without the `.cl` suffix', examples: ['ñandú'] }),
  length: integer({ description: 'Characters of the name' }),
  agent: string({ description: 'Who recorded it' }),
  status: bit('Bought (1) or not (0)'),
  reserved: bit('Reserved (1) or not (0)'),
  revision: bit('Marked for review'),
  discarded: bit(`Marked as discarded: deletes itself after ${DISCARDED_RETENTION_DAYS} days`),
  date_reg: dateTime('When it was registered'),
  date_mod: dateTime('When the record last changed, in the time zone of the service'),
}

export const RECORD_EXAMPLE = {
  name: 'catalejo',
  length: 8,
  agent: 'grupo',
  status: 1,
  reserved: 0,
  revision: 0,
  discarded: 0,
  date_reg: '2025-12-31 14:30:34',
  date_mod: '2025-12-31 15:00:00',
}

export const listAnswer = object(
  {
    status: constant(200),
    count: integer({ description: 'Records returned' }),
    query: string({ description: 'The search text in lower case' }),
    data: array(array(object({ ...recordFields, ...furtherFields })), {
      description: 'One array that holds the records. Their further fields are those that `fields` names',
    }),
  },
  {
    description: 'The records',
    examples: [
      {
        status: 200,
        count: 1,
        query: 'cata',
        data: [[RECORD_EXAMPLE]],
      },
    ],
  },
)

export const similarAnswer = object(
  {
    status: constant(200),
    count: integer({ description: 'Records returned' }),
    query: string({ description: 'The name that they resemble, without the suffix' }),
    data: array(
      array(
        object({
          ...recordFields,
          reason: string({ enum: REASONS, description: 'The change that counts most' }),
          detail: string({ description: 'All changes, in Spanish', examples: ['«0» por «o»'] }),
          score: number({ minimum: 0, maximum: 1, description: '1 for names that look the same' }),
        }),
      ),
      { description: 'One array that holds the records, best first' },
    ),
  },
  {
    description: 'The records that resemble it',
    examples: [
      {
        status: 200,
        count: 1,
        query: 'catalej0',
        data: [[{ ...RECORD_EXAMPLE, reason: 'homoglyph', detail: '«o» por «0»', score: 0.976 }]],
      },
    ],
  },
)

const counts = (description: string) => array(integer(), { description })

export const statsAnswer = object(
  {
    status: constant(200),
    from: string({ description: 'The first day' }),
    to: string({ description: 'The last day' }),
    days: object({
      date: array(string(), { description: 'All days of the span, in the time zone of the service' }),
      registered: counts('Domains registered that day, those deleted since included'),
      deleted: counts('Domains deleted that day'),
    }),
    lengths: object({ length: counts('From the shortest to the longest'), count: counts('Records') }),
    agents: object({
      agent: array(string(), { description: 'Those with the most records' }),
      count: counts('Their records'),
      others: integer({ description: 'Records of all others' }),
    }),
    totals: object({
      records: integer(),
      bought: integer(),
      deleted: integer(),
      reserved: integer(),
      revision: integer(),
      discarded: integer(),
    }),
    words: optional(
      object(
        {
          word: array(string(), { description: 'The clearest rise first' }),
          week: counts('Names registered in the last 7 days with the word'),
          mean: array(
            { type: 'number' },
            { description: 'The same a week, on average of the 12 weeks before' },
          ),
        },
        { description: 'Only if `rising` is given' },
      ),
    ),
    tags: optional(
      object(
        {
          tag: array(string(), { description: 'Those of the most records first' }),
          count: counts('Their records'),
        },
        { description: 'Only if `tags` is given' },
      ),
    ),
    feeds: object({
      account: array(string(), { description: 'All accounts of the service' }),
      last_add: array(string({ type: ['string', 'null'] }), {
        description: 'When each last added domains, whatever that changed; null for never',
      }),
    }),
  },
  {
    description: 'The counts; what is plotted against each other is in arrays of one length',
    examples: [
      {
        status: 200,
        from: '2026-01-03',
        to: '2026-01-05',
        days: {
          date: ['2026-01-03', '2026-01-04', '2026-01-05'],
          registered: [2, 0, 1],
          deleted: [0, 1, 0],
        },
        lengths: { length: [4, 5], count: [3, 2] },
        agents: { agent: ['grupo'], count: [4], others: 1 },
        totals: { records: 5, bought: 3, deleted: 2, reserved: 1, revision: 1, discarded: 1 },
        feeds: { account: ['grupo', 'mirones'], last_add: ['2026-01-05 23:20:31', null] },
      },
    ],
  },
)

/** Not JSON: the schema only documents it. */
export const exportAnswer = {
  description: 'The records, one a line; CSV begins with a line of names',
  content: {
    'text/csv': { schema: string() },
    'application/x-ndjson': { schema: string() },
  },
}

/** Not JSON: the schema only documents it. */
export const eventsAnswer = {
  description:
    `A stream, each event with its \`id\`, its name (${[...EVENT_KINDS, 'gap'].map((kind) => `\`${kind}\``).join(', ')}) and JSON: ` +
    '`event`, `at`, `account`, `record` and `before`, the records as `list` shows them with `seen`, `note` and `tags`; or an Atom feed',
  content: {
    'text/event-stream': { schema: string() },
    'application/atom+xml': { schema: string() },
  },
}

export const agent = optional(
  string({ minLength: 1, maxLength: MAX_AGENT_LENGTH, description: "Instead of the account's name" }),
)

export const addBody = object(
  {
    data: array(
      object({
        domain: string({ description: 'Name without the `.cl` suffix', examples: ['catalejo'] }),
        length: integer({ description: 'Characters of the name', examples: [8] }),
        reserve: bit('Reserved (1) or not (0)'),
        status: bit('Bought (1) or not (0)'),
        date_reg: dateTime('When it was registered'),
        agent,
      }),
      { maxItems: MAX_BATCH_RECORDS, description: 'The records' },
    ),
  },
  {
    examples: [
      { data: [{ domain: 'catalejo', length: 8, reserve: 0, status: 1, date_reg: '2025-12-31 14:30:34' }] },
    ],
  },
)

export const storedAnswer = object(
  { status: constant(200), count: integer({ description: 'Records stored' }) },
  { description: 'The batch was stored', examples: [{ status: 200, count: 2 }] },
)

const batchAnswer = (
  status: number,
  description: string,
  msg: string,
  errors: readonly { index: number; field: string; msg: string }[],
) =>
  object(
    {
      status: constant(status),
      count: constant(0),
      msg: string(),
      errors: array(object({ index: integer(), field: string(), msg: string() }), {
        description: `The bad records, at most the first ${MAX_FAULTS}`,
      }),
    },
    { description, examples: [{ status, count: 0, msg, errors }] },
  )

export const batchProblem = batchAnswer(500, 'Nothing was stored', countOfFaults(1), [
  { index: 0, field: 'length', msg: 'Falta el campo length' },
])

export const unreadableBatch = batchAnswer(400, '`data` is missing or cannot be read', MISSING_DATA, [])

const mxRecord = object({
  preference: integer(),
  exchange: string({ description: 'Host name; `.` in a null MX (RFC 7505): the domain accepts no mail' }),
})
const recordTexts = (description: string) => optional(array(string(), { description }))
const dnsRecords = object({
  ns: recordTexts('Host names of the name servers'),
  a: recordTexts('IPv4 addresses'),
  aaaa: recordTexts('IPv6 addresses'),
  mx: optional(array(mxRecord, { description: 'By preference' })),
  txt: recordTexts('The character-strings of each record, joined, as UTF-8'),
  soa: optional(
    array(
      object({
        mname: string(),
        rname: string(),
        serial: integer(),
        refresh: integer(),
        retry: integer(),
        expire: integer(),
        minimum: integer(),
      }),
    ),
  ),
  caa: optional(array(object({ flags: integer(), tag: string(), value: string() }))),
})

const dnsFields = {
  domain: string({ description: 'As requested' }),
  dns: array(string(), { description: 'Host names of the name servers' }),
  records: optional({ ...dnsRecords, description: 'With `types`: an array for each of them' }),
  errors: optional({
    type: 'object',
    description: 'With `types`: those whose look-up failed',
    additionalProperties: object({ status: integer({ enum: [502, 503, 504] }), msg: string() }),
  }),
}

export const dnsAnswer = object(
  { status: constant(200), ...dnsFields },
  {
    description: 'The name exists',
    examples: [
      {
        status: 200,
        domain: 'nic.cl',
        dns: ['a.nic.cl', 'b.nic.cl'],
        records: { mx: [{ preference: 10, exchange: 'mail.nic.cl' }], txt: [] },
        errors: { txt: { status: 504, msg: 'Los servidores DNS no respondieron a tiempo' } },
      },
    ],
  },
)

export const bulkDnsBody = object(
  {
    types: optional(string({ description: 'As the parameter of the same name, which takes precedence' })),
    data: array(string({ description: 'Full name under .cl' }), {
      maxItems: MAX_DNS_NAMES,
      description: 'The names',
    }),
  },
  { examples: [{ data: ['nic.cl', 'ñandú.cl'] }] },
)

export const bulkDnsAnswer = {
  description:
    'One object a line: `status`, `domain` as requested, `dns`, `records` and `errors` with `types`, and `msg` if there ' +
    'is something to say',
  content: { 'application/x-ndjson': { schema: string() } },
}

export const dnsProblem = (description: string, status: number, msg: string) =>
  object(
    { status: integer(), ...dnsFields, records: optional({ type: 'object' }), msg: string() },
    { description, examples: [{ status, domain: 'nic.cl', dns: [], msg }] },
  )
