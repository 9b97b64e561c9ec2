import type { HttpServer } from '../../http/server.ts'
import { HttpError } from '../../lib/errors.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { integer } from '../../http/parameters.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { statsAnswer } from '../schemas.ts'
import { addDays, dayOf, daysBetween, wordWeeks } from '../stats/counts.ts'
import type { Statistics } from '../stats/statistics.ts'

/** Days of the series when none are given; from its first to its last at most. */
const DEFAULT_DAYS = 90
const MAX_DAYS = 3_660
const DEFAULT_AGENTS = 20
const MAX_AGENTS = 100
const MAX_RISING = 100
const MAX_TAGS = 1_000

export function statsRoute(app: HttpServer, shared: EndpointShared, statistics: Statistics) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['GET'],
    path: '/api/v1/domainwatch/stats',
    parameters: {
      ...filterParameters,
      agents: integer(`Agents counted separately; ${DEFAULT_AGENTS} unless given`, 1, MAX_AGENTS),
      rising: integer(
        'Adds this many words that more new names have this week than in the last twelve',
        1,
        MAX_RISING,
      ),
      tags: integer('Adds this many tags, those of the most records first', 1, MAX_TAGS),
    },
    document: {
      tag: 'domainwatch',
      summary: 'Counts of recorded domains, for plots',
      description:
        'Of those that the filters of `list` match: registrations and deletions a day, lengths, agents, totals; and when ' +
        `each account last added some. The days are those from \`from\` to \`to\`, the last ${DEFAULT_DAYS} unless given, ` +
        `at most ${MAX_DAYS} before \`to\`.`,
      answers: { 200: statsAnswer },
    },

    async handle({ values, identity }) {
      const today = statistics.today()
      const span = spanOf(values, today)
      const { agents = DEFAULT_AGENTS, rising = 0, tags = 0 } = values
      const weeks = rising > 0 ? wordWeeks(today) : undefined
      const request = { filters: readFilters(values), span, agents, rising, weeks, tags }
      const counts = await statistics.counts(request, identity.accountId)
      const days = { from: dayOf(span.from), to: dayOf(span.to) }
      return { status: 200, ...days, ...counts, feeds: await statistics.lastAdds() }
    },
  })
}

function spanOf(values: { from: string | undefined; to: string | undefined }, today: string) {
  const to = values.to ?? `${today} 23:59:59`
  const from = values.from ?? `${addDays(dayOf(to), 1 - DEFAULT_DAYS)} 00:00:00`
  if (from > to) throw new HttpError(400, 'El parámetro from debe ser anterior a to')
  // The message counts from one day to another, the series both of them.
  if (daysBetween(dayOf(from), dayOf(to)) > MAX_DAYS + 1) {
    throw new HttpError(400, `El parámetro from debe ser de a lo más ${MAX_DAYS} días antes de to`)
  }
  return { from, to }
}
