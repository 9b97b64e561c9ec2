import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { badParameter } from '../../http/errors.ts'
import { answer, array, integer, object, string } from '../../http/openapi/json-schema.ts'
import { integer as integerParameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import type { Campaign } from '../campaigns/groups.ts'
import { MAX_CAMPAIGNS, MAX_DAYS } from '../campaigns/index.ts'
import { filterParameters } from '../filters.ts'
import { addDays, dayOf, daysBetween } from '../stats/counts.ts'
import type { DomainServices } from '../services.ts'

const DEFAULT_DAYS = 30
const DEFAULT_LIMIT = 50
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

export function campaignsRoute(
  app: HttpServer,
  shared: EndpointShared,
  { campaigns, statistics }: DomainServices,
): void {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/campaigns',
    scopes: ['read', 'write'],
    parameters: {
      from: filterParameters.from,
      to: filterParameters.to,
      limit: integerParameter(`Maximum number of groups; default ${DEFAULT_LIMIT}`, 1, MAX_CAMPAIGNS),
    },
    operation: 'listCampaigns',
    summary: 'Find names that were registered together',
    description:
      'Groups at least 4 names that were registered within a day and share a skeleton, a rare word or a server. ' +
      `Covers by default the last ${DEFAULT_DAYS} days with registrations, and at most ${MAX_DAYS} days.`,
    answers: { 200: campaignsAnswer },

    async handle({ values, identity, reply }) {
      const signal = clientAbort(reply.raw)
      const to = values.to ?? `${(await campaigns.lastDay(signal)) ?? statistics.today()} 23:59:59`
      const from = values.from ?? `${addDays(dayOf(to), 1 - DEFAULT_DAYS)} 00:00:00`
      if (from > to) throw badParameter('from', 'debe ser anterior o igual a to')
      if (daysBetween(dayOf(from), dayOf(to)) > MAX_DAYS)
        throw badParameter('from', `debe abarcar a lo más ${MAX_DAYS} días hasta to`)
      const groups = await campaigns.find({ from, to }, identity.accountId, signal)
      const data = groups.slice(0, values.limit ?? DEFAULT_LIMIT).map(campaignJson)
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
