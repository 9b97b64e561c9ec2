import { simpleEndpoint } from '../../http/endpoint.ts'
import {
  answer,
  problem,
  array,
  integer,
  object,
  string,
  listAnswer,
} from '../../http/openapi/json-schema.ts'
import { clientAbort } from '../../http/client.ts'
import { choice, integer as integerParameter, type Values } from '../../http/parameters.ts'
import { localDateTime } from '../../lib/dates.ts'
import { domainErrors } from '../errors.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { serverParameters } from '../servers.ts'
import { CLAIM_MINUTES, DEFAULT_QUEUE_RECORDS, MAX_CLAIMS, MAX_QUEUE_RECORDS } from '../limits.ts'
import { orderParameter } from '../list/order.ts'
import { domainRecord, fieldsParameter, listedFields } from '../record-fields.ts'
import { orderRefused, RECORD_EXAMPLE } from '../schemas.ts'
import { namesParameter } from '../tasks/parse-data.ts'
import type { AddRoutes } from '../services.ts'

const queueAnswer = answer(
  {
    count: integer('Number of records returned'),
    remaining: integer('Number of matching records that no other account holds'),
    until: string(`End of the claims, ${CLAIM_MINUTES} minutes from now, in the time zone of the service`),
    data: array(
      array(domainRecord),
      'Array that contains one array of records, with the additional fields that `fields` names',
    ),
  },
  'Records that the account holds now',
  {
    count: 1,
    remaining: 823,
    until: '2026-01-05 09:10:00',
    data: [[{ ...RECORD_EXAMPLE, status: 0 }]],
  },
)

const releasedAnswer = answer(
  { count: integer('Number of records that the account held until now') },
  'The records were released',
  { count: 20 },
)

const holder = object({
  account: string('Name of the account'),
  count: integer('Number of records that the account holds'),
  until: string('End of the last claim of the account, in the time zone of the service'),
})

const holdersAnswer = listAnswer(
  holder,
  {
    count: 'Number of accounts',
    data: 'Accounts, those that hold the most records first',
    description: 'Accounts that hold records now',
  },
  { account: 'grupo', count: 20, until: '2026-01-05 09:10:00' },
)

const PATH = '/api/v1/domainwatch/queue'

export const queueRoute: AddRoutes = (app, shared, { queue, records, servers, timeZone }) => {
  simpleEndpoint(app, shared, {
    route: `POST ${PATH}`,
    scopes: ['write'],
    parameters: {
      ...filterParameters,
      ...serverParameters,
      limit: integerParameter(
        `Maximum number of records; default ${DEFAULT_QUEUE_RECORDS}`,
        1,
        MAX_QUEUE_RECORDS,
      ),
      order: orderParameter('Sort key, ties by name; by default the date of deletion'),
      sort: choice('Sort direction', ['asc', 'desc']),
      fields: fieldsParameter,
    },
    operation: 'claimDomains',
    summary: 'Claim the next records to decide on',
    description:
      `Returns the records that the account holds already, then the next unclaimed ones. The account holds them for ${CLAIM_MINUTES} minutes ` +
      'from now; an `update` of `seen`, `revision`, `discarded` or `status` by the account ends the claim of a record.',
    answers: {
      200: queueAnswer,
      400: orderRefused,
      409: problem(
        'The account holds the maximum number of records',
        domainErrors.too_many_claims(MAX_CLAIMS),
      ),
    },

    async handle({ values, identity, reply }) {
      const { limit = DEFAULT_QUEUE_RECORDS, order = 'deleted', sort } = values
      const { accountId } = identity
      const filters = await servers.narrow(readFilters(withDefaults(values)), values, accountId)
      const view = { filters, order, ascending: sort === 'asc' }
      const left = clientAbort(reply.raw)
      const {
        records: claimed,
        remaining,
        until,
        model,
      } = await queue.claim(view, { accountId, limit }, left)
      const { fields } = values
      const names = claimed.map(({ name }) => name)
      const data =
        fields === undefined
          ? claimed.map(listedFields)
          : await records.page(names, fields, accountId, left, model)
      return {
        status: 200,
        count: data.length,
        remaining,
        until: localDateTime(until, timeZone),
        data: [data],
      }
    },
  })

  simpleEndpoint(app, shared, {
    route: `GET ${PATH}`,
    scopes: ['read', 'write'],
    parameters: {},
    operation: 'listClaims',
    summary: 'List who holds records',
    description:
      'Returns all accounts with claims, including the calling one, with their number of records and the end of their claims. Claims and extends nothing.',
    answers: { 200: holdersAnswer },

    async handle({ identity }) {
      const holders = await queue.holders(identity.accountId)
      const data = holders.map(({ account, count, until }) => {
        return { account, count, until: localDateTime(until, timeZone) }
      })
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: `DELETE ${PATH}`,
    scopes: ['write'],
    parameters: {
      data: namesParameter('Names of the records, a JSON array of up to 1,000; by default all'),
    },
    operation: 'releaseDomains',
    summary: 'Release claimed records',
    description: 'Lets others claim the records. Ignores names that the account does not hold.',
    answers: { 200: releasedAnswer },

    async handle({ identity, values: { data } }) {
      return { status: 200, count: await queue.release(identity.accountId, data) }
    },
  })
}

/** By default, records that no one has decided on and no rule hides. */
function withDefaults(values: Values<typeof filterParameters>): Values<typeof filterParameters> {
  const {
    hidden = 0,
    seen = 0,
    revision = values.rev ? undefined : 0,
    discarded = values.dis ? undefined : 0,
  } = values
  return { ...values, hidden, seen, revision, discarded }
}

const forgottenAnswer = answer(
  { count: integer('Number of decisions that were forgotten') },
  'The decisions and what was learned from them are forgotten',
  { count: 512 },
)

export const interestRoute: AddRoutes = (app, shared, { interest }) => {
  simpleEndpoint(app, shared, {
    route: 'DELETE /api/v1/domainwatch/interest',
    scopes: ['write'],
    parameters: {},
    operation: 'forgetInterest',
    summary: 'Forget the decisions of the group',
    description:
      'Forgets the decisions of all accounts that `order=interest` has learned from. Does not change records; `order=interest` learns again ' +
      'from decisions after this.',
    answers: { 200: forgottenAnswer },
    async handle({ identity }) {
      return { status: 200, count: await interest.forget(identity.accountId) }
    },
  })
}
