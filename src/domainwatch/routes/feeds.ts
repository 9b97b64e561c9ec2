import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import type { HttpServer } from '../../http/server.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { FeedStatus } from '../feeds/index.ts'
import { answer, array, integer, object, string, nullable } from '../../http/openapi/json-schema.ts'
import { FEED_FORMATS } from '../import/format.ts'
import { WINDOW_NAMES } from '../registry/rules.ts'
import type { DomainServices } from '../services.ts'

const feed = object(
  {
    name: string('Name of the feed in the settings'),
    host: string('Host of the address, with its port if it is not the default'),
    format: string({ enum: [...FEED_FORMATS, 'auto'], description: 'Format of the list' }),
    every: string({ description: 'Interval', examples: ['15m'] }),
    account: string('Account on whose behalf records are imported'),
    window: string({ enum: WINDOW_NAMES, description: 'Time that a list of deletions covers' }),
    last_attempt: nullable(string('Time of the last attempt to fetch the list; null before the first one')),
    last_success: nullable(string('Time of the last successful attempt, even if the list was unchanged')),
    last_change: nullable(string('Time at which an import last changed records')),
    read: nullable(integer('Records in the last import; null before the first')),
    changed: nullable(integer('Records that the last import added or changed')),
    refused: nullable(integer('Lines that the last import refused')),
    complete: nullable(
      integer({
        enum: [0, 1],
        description:
          'Whether the last list was complete (1); names that are missing from an incomplete list (0) are not taken as absent',
      }),
    ),
    last_complete: nullable(string('Time at which the last complete list was fetched')),
    gaps: integer(
      'Number of times that the last complete list was older than the window, so that deletions may be missing',
    ),
    last_gap: nullable(string('Time at which a gap was last found')),
    error: nullable(string('Reason why the last attempt failed; null if it succeeded')),
    stale: integer({
      enum: [0, 1],
      description: 'Whether there was no successful attempt for three intervals (1)',
    }),
  },
  { title: 'Feed' },
)

const feedsAnswer = answer(
  {
    count: integer('Number of feeds'),
    data: array(feed, 'The feeds, in the order of the settings'),
  },
  'Feeds; none if the setting `feeds` is not given',
  {
    count: 1,
    data: [
      {
        name: 'eliminados',
        host: 'listas.example.cl',
        format: 'deletions',
        every: '6h',
        account: 'grupo',
        window: 'week',
        last_attempt: '2025-12-31 15:00:00',
        last_success: '2025-12-31 15:00:01',
        last_change: '2025-12-31 09:00:01',
        read: 412,
        changed: 3,
        refused: 0,
        complete: 1,
        last_complete: '2025-12-31 15:00:00',
        gaps: 0,
        last_gap: null,
        error: null,
        stale: 0,
      },
    ],
  },
)

export function feedsRoute(
  app: HttpServer,
  shared: EndpointShared,
  { feeds, timeZone }: DomainServices,
): void {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/feeds',
    scopes: ['read', 'write'],
    parameters: {},
    operation: 'listFeeds',
    summary: 'List the feeds and their state',
    description:
      'Lists the lists of the registry that the service fetches regularly, as the setting `feeds` says. Times are in the time zone of the service.',
    answers: { 200: feedsAnswer },

    async handle() {
      const statuses = await feeds.statuses()
      return { status: 200, count: statuses.length, data: statuses.map((one) => feedJson(one, timeZone)) }
    },
  })
}

function feedJson({ feed, state, source, isStale }: FeedStatus, timeZone: string) {
  const time = (at: number | null = null) => (at === null ? null : localDateTime(at, timeZone))
  return {
    name: feed.name,
    // Without path and query, which may contain secrets.
    host: new URL(feed.url).host,
    format: feed.format,
    every: feed.every,
    account: feed.account,
    window: feed.window,
    last_attempt: time(state?.attempted_at),
    last_success: time(state?.succeeded_at),
    last_change: time(state?.changed_at),
    read: state?.records_read ?? null,
    changed: state?.records_changed ?? null,
    refused: state?.lines_refused ?? null,
    complete: source === undefined ? null : source.complete_at === source.listed_at ? 1 : 0,
    last_complete: time(source?.complete_at),
    gaps: source?.gaps ?? 0,
    last_gap: time(source?.gap_to),
    error: state?.error ?? null,
    stale: isStale ? 1 : 0,
  }
}
