import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import type { HttpServer } from '../../http/server.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { Feeds, FeedStatus } from '../feeds/index.ts'
import { feedsAnswer } from '../schemas-feeds.ts'

export function feedsRoute(
  app: HttpServer,
  shared: EndpointShared,
  { feeds, timeZone }: { feeds: Feeds; timeZone: string },
) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['GET'],
    path: '/api/v1/domainwatch/feeds',
    parameters: {},
    document: {
      tag: 'domainwatch',
      summary: 'The state of the lists that are fetched regularly',
      description:
        'The operator names them in the setting `feeds`. Times are in the time zone of the service.',
      answers: { 200: feedsAnswer },
    },

    async handle() {
      const statuses = await feeds.statuses()
      return { status: 200, count: statuses.length, data: statuses.map((one) => feedJson(one, timeZone)) }
    },
  })
}

function feedJson(status: FeedStatus, timeZone: string) {
  const { feed, counts } = status
  const time = (at: number | null) => (at === null ? null : localDateTime(at, timeZone))
  return {
    name: feed.name,
    // Without path and query, which may contain secrets.
    host: new URL(feed.url).host,
    format: feed.format,
    every: feed.every,
    account: feed.account,
    last_attempt: time(status.attemptedAt),
    last_success: time(status.succeededAt),
    last_change: time(status.changedAt),
    read: counts?.read ?? null,
    changed: counts?.changed ?? null,
    refused: counts?.refused ?? null,
    error: status.error,
    stale: status.isStale ? 1 : 0,
  }
}
