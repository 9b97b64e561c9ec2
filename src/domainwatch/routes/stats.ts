import { badParameter } from '../../http/errors.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { integer as integerParameter } from '../../http/parameters.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { serverParameters } from '../servers.ts'
import { addDays, countRecords, dayOf, daysBetween, todayIn } from '../stats.ts'
import { localDateTime } from '../../lib/dates.ts'
import { lastAdds } from '../queries-records.ts'
import { answer, array, integer, object, optional, string } from '../../http/openapi/json-schema.ts'
import type { AddRoutes } from '../services.ts'
import { type Campaign, MAX_CAMPAIGNS, MAX_CAMPAIGN_DAYS } from '../campaigns.ts'

const counts = (description: string) => array(integer(), description)

const statsAnswer = answer(
  {
    from: string('First day of the series'),
    to: string('Last day of the series'),
    days: object({
      date: array(string(), 'All days of the series, in the time zone of the service'),
      registered: counts('Domains registered on each day, including those deleted since'),
      deleted: counts('Domains deleted on each day'),
    }),
    lengths: object({
      length: counts('Lengths in characters, ascending'),
      count: counts('Records of each length'),
    }),
    agents: object({
      agent: array(string(), 'Agents with the most records, descending'),
      count: counts('Records of each agent'),
      others: integer('Records of all other agents'),
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
          word: array(string(), 'Words, those with the clearest rise first'),
          week: counts('Names with the word registered in the last 7 days'),
          mean: array(
            { type: 'number' },
            'Names with the word registered per week, on average of the 12 weeks before',
          ),
        },
        'Rising words; only with the parameter `rising`',
      ),
    ),
    tags: optional(
      object(
        {
          tag: array(string(), 'Tags with the most records, descending'),
          count: counts('Records with each tag'),
        },
        'Tags; only with the parameter `tags`',
      ),
    ),
    feeds: object({
      account: array(string(), 'All accounts of the service'),
      last_add: array(
        string({ type: ['string', 'null'] }),
        'Time at which each account last added domains, even without a change; null for never',
      ),
    }),
  },
  'Counts; arrays in one object have the same length',
  {
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
)

/** Days of the series when none are given; from its first to its last at most. */
const DEFAULT_DAYS = 90
const MAX_DAYS = 3_660
const DEFAULT_AGENTS = 20
const MAX_AGENTS = 100
const MAX_RISING = 100
const MAX_TAGS = 1_000

export const statsRoute: AddRoutes = (app, shared, services) => {
  const { clock, database, servers, timeZone } = services
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/stats',
    scopes: ['read', 'write'],
    parameters: {
      ...filterParameters,
      ...serverParameters,
      agents: integerParameter(
        `Number of agents counted separately; default ${DEFAULT_AGENTS}`,
        1,
        MAX_AGENTS,
      ),
      days: integerParameter(`Days of the series without \`from\`; default ${DEFAULT_DAYS}`, 1, MAX_DAYS),
      rising: integerParameter(
        'Adds this many words that are more frequent in new names this week than in the last twelve',
        1,
        MAX_RISING,
      ),
      tags: integerParameter('Adds this many tags, those with the most records first', 1, MAX_TAGS),
    },
    operation: 'getDomainStats',
    summary: 'Count recorded domains for charts',
    description:
      'Counts the records that the filters of `list` match: registrations and deletions per day, lengths, agents and totals. Also returns ' +
      `when each account last added domains. The days are those from \`from\` to \`to\`, by default the last \`days\`, ` +
      `at most ${MAX_DAYS} before \`to\`.`,
    answers: { 200: statsAnswer },

    async handle({ values, identity, reply }) {
      const span = spanOf(values, todayIn(timeZone, clock))
      const { agents = DEFAULT_AGENTS, rising = 0, tags = 0 } = values
      const filters = await servers.narrow(readFilters(values), values, identity.accountId)
      const request = { filters, span, agents, rising, tags }
      const counts = await countRecords(services, request, identity.accountId, clientAbort(reply.raw))
      const days = { from: dayOf(span.from), to: dayOf(span.to) }
      const adds = await database.all(lastAdds())
      const feeds = {
        account: adds.map(({ account }) => account),
        last_add: adds.map(({ added_at: at }) => (at === null ? null : localDateTime(at, timeZone))),
      }
      return { status: 200, ...days, ...counts, feeds }
    },
  })
}

function spanOf(
  values: { from: string | undefined; to: string | undefined; days: number | undefined },
  today: string,
) {
  const to = values.to ?? `${today} 23:59:59`
  const { days = DEFAULT_DAYS } = values
  const from = values.from ?? `${addDays(dayOf(to), 1 - days)} 00:00:00`
  if (from > to) throw badParameter('from', 'debe ser anterior o igual a to')
  // The message counts from one day to another, the series both of them.
  if (daysBetween(dayOf(from), dayOf(to)) > MAX_DAYS + 1) {
    throw badParameter('from', `debe ser de a lo más ${MAX_DAYS} días antes de to`)
  }
  return { from, to }
}

const DEFAULT_CAMPAIGN_DAYS = 30
const DEFAULT_CAMPAIGNS = 50
const MAX_NAMES = 50

const campaignsAnswer = answer(
  {
    from: string('Start of the period, in the time zone of the service'),
    to: string('End of the period, in the time zone of the service'),
    count: integer('Number of groups returned'),
    data: array(
      object(
        {
          kind: string({ enum: ['skeleton', 'word', 'server'], description: 'Kind of what the names share' }),
          key: string(
            'What the names share: a skeleton, with `*` for words and `#` for numbers, a word, or a server',
          ),
          from: string('Registration time of the first name'),
          to: string('Registration time of the last name, at most a day later'),
          count: integer('Number of names in the group'),
          names: array(string(), `Names of the group, the oldest first, at most ${MAX_NAMES}`),
        },
        { title: 'Campaign' },
      ),
      'The groups, largest first',
    ),
  },
  'Groups of names',
  {
    from: '2025-12-07 00:00:00',
    to: '2026-01-05 23:59:59',
    count: 1,
    data: [
      {
        kind: 'skeleton',
        key: '*-xkq#',
        from: '2026-01-03 10:00:00',
        to: '2026-01-03 10:02:10',
        count: 4,
        names: ['pago-xkq1', 'cuenta-xkq2', 'acceso-xkq3', 'clave-xkq4'],
      },
    ],
  },
)

export const campaignsRoute: AddRoutes = (app, shared, { campaigns, clock, timeZone }) => {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/campaigns',
    scopes: ['read', 'write'],
    parameters: {
      from: filterParameters.from,
      to: filterParameters.to,
      limit: integerParameter(`Maximum number of groups; default ${DEFAULT_CAMPAIGNS}`, 1, MAX_CAMPAIGNS),
    },
    operation: 'listCampaigns',
    summary: 'Find names that were registered together',
    description:
      'Groups at least 4 names that were registered within a day and share a skeleton, a rare word or a server. ' +
      `Covers by default the last ${DEFAULT_CAMPAIGN_DAYS} days with registrations, and at most ${MAX_CAMPAIGN_DAYS} days.`,
    answers: { 200: campaignsAnswer },

    async handle({ values, identity, reply }) {
      const signal = clientAbort(reply.raw)
      const to = values.to ?? `${(await campaigns.lastDay(signal)) ?? todayIn(timeZone, clock)} 23:59:59`
      const from = values.from ?? `${addDays(dayOf(to), 1 - DEFAULT_CAMPAIGN_DAYS)} 00:00:00`
      if (from > to) throw badParameter('from', 'debe ser anterior o igual a to')
      if (daysBetween(dayOf(from), dayOf(to)) > MAX_CAMPAIGN_DAYS)
        throw badParameter('from', `debe abarcar a lo más ${MAX_CAMPAIGN_DAYS} días hasta to`)
      const groups = await campaigns.find({ from, to }, identity.accountId, signal)
      const data = groups.slice(0, values.limit ?? DEFAULT_CAMPAIGNS).map(campaignJson)
      return { status: 200, from, to, count: data.length, data }
    },
  })
}

function campaignJson({ kind, key, names }: Campaign) {
  const [first, last] = [names.at(0)?.at, names.at(-1)?.at].map(toText)
  const shown = names.slice(0, MAX_NAMES).map(({ name }) => name)
  return { kind, key, from: first, to: last, count: names.length, names: shown }
}

const toText = (seconds = 0): string =>
  new Date(seconds * 1000).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' ')
