import { simpleEndpoint } from '../../http/endpoint.ts'
import {
  array,
  integer,
  nullable,
  object,
  problem,
  string,
  listAnswer,
} from '../../http/openapi/json-schema.ts'
import { choice, integer as integerParameter, text, type Parameter } from '../../http/parameters.ts'
import { uploadEndpoint } from '../../http/upload-endpoint.ts'
import { isDisplayName } from '../../lib/text.ts'
import { domainErrors } from '../errors.ts'
import { MEMBER_FORMATS, FEED_FORMATS } from '../import/format.ts'
import { MAX_FILE_BYTES, MAX_OPEN_JOBS, type ImportProgress, type ImportRequest } from '../jobs/job.ts'
import type { JobRow } from '../jobs/queries.ts'
import { DEFAULT_WINDOW, WINDOW_NAMES } from '../registry/rules.ts'
import { accepted, jobEndpoints } from './jobs.ts'
import type { AddRoutes } from '../services.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { FeedStatus } from '../feeds/index.ts'

const MAX_SOURCE_CHARACTERS = 100

const MAX_FILE_NAME_CHARACTERS = 200

const importFields = {
  name: nullable(string('Name of the file; null if the client did not send one')),
  format: nullable(string('Format of the file; null if it is detected')),
  source: nullable(string('Source of the list; null if it is identified by its format and window')),
  window: string({ enum: WINDOW_NAMES, description: 'Time that a list of deletions covers' }),
  dry_run: integer({ enum: [0, 1], description: 'Whether changes are only counted (1) or stored (0)' }),
  percent: integer('Progress in percent of the file'),
  lines: integer('Number of lines read'),
  new: integer('Number of records or numbers added'),
  changed: integer('Number of records or numbers changed'),
  unchanged: integer('Number of valid lines that changed nothing'),
  refused: integer('Number of invalid lines'),
  errors: array(
    object({ line: integer('Number of the line'), msg: string('Error in this line, in Spanish') }),
    'First 100 invalid lines',
  ),
  skipped: nullable(
    string({
      enum: ['identical', 'older', null],
      description:
        'Reason why the list changed nothing: it equals the last one of its source, or is not newer',
    }),
  ),
  complete: nullable(
    integer({
      enum: [0, 1, null],
      description:
        'Whether the list is complete (1); names that are missing from an incomplete list (0) are not taken as absent. Null until it is known',
    }),
  ),
}

const EXAMPLE = {
  name: 'eliminados.txt.gz',
  format: 'deletions',
  source: null,
  window: 'week',
  dry_run: 0,
  percent: 62,
  lines: 20_001,
  new: 412,
  changed: 88,
  unchanged: 19_500,
  refused: 1,
  errors: [{ line: 7, msg: 'La línea no es CSV válido' }],
  skipped: null,
  complete: null,
}

const source: Parameter<string> = {
  ...text('Name of the source of the list; by default its format and window', MAX_SOURCE_CHARACTERS),
  parse(given) {
    const isName = given !== '' && given.length <= MAX_SOURCE_CHARACTERS && isDisplayName(given)
    return isName && given === given.trim() && !given.startsWith('feed:')
      ? { value: given }
      : {
          takes: `debe ser un nombre de 1 a ${MAX_SOURCE_CHARACTERS} caracteres que no sea el de una fuente (feed:)`,
        }
  },
}

export const importRoutes: AddRoutes = (app, shared, { jobs, timeZone }) => {
  uploadEndpoint(app, shared, {
    route: 'POST /api/v1/domainwatch/import',
    scopes: ['write'],
    maxBytes: MAX_FILE_BYTES,
    parameters: {
      format: choice('Format of the file; detected by default', MEMBER_FORMATS),
      source,
      window: choice(`Time that a list of deletions covers; default \`${DEFAULT_WINDOW}\``, WINDOW_NAMES),
      dry_run: integerParameter(
        'Whether to only count what the import would change (1), and store nothing',
        0,
        1,
      ),
    },
    operation: 'importDomains',
    summary: 'Import a list of the registry, or numbers of names',
    description:
      'Imports a file, plain or compressed with gzip or zstd, in the background, by the rules of `catalejo import`. ' +
      'A list that equals the last one of its source changes nothing.',
    body: object(
      { file: string({ format: 'binary', description: 'The list' }) },
      { examples: [{ file: 'catalejo.cl\n' }] },
    ),
    answers: {
      202: accepted(),
      409: problem('The import was stopped during the upload of its file', domainErrors.job_stopped()),
      429: problem(
        'The account has the maximum number of unfinished jobs',
        domainErrors.too_many_jobs(MAX_OPEN_JOBS),
      ),
    },
    async begin({ accountId }, fileName) {
      const name = toDisplayName(fileName)
      const receiver = await jobs.receive(accountId, 'import')
      return {
        ...receiver,
        async finish({ format, source: given, window = DEFAULT_WINDOW, dry_run: dryRun }, reply) {
          await receiver.finish({ name, format, source: given, window, isDry: dryRun === 1 })
          reply.code(202)
          return { status: 202, id: receiver.id }
        },
      }
    },
  })

  jobEndpoints(
    app,
    shared,
    { jobs, timeZone },
    {
      path: '/api/v1/domainwatch/imports',
      kinds: ['import'],
      operations: { list: 'listImports', stop: 'stopImport' },
      nouns: ['an import', 'imports'],
      fields: importFields,
      example: EXAMPLE,
      show,
    },
  )
}

/** Returns the name of a file without characters that change how texts are shown; undefined if nothing is left. */
function toDisplayName(fileName: string): string | undefined {
  const name = [...fileName].filter(isDisplayName).join('').trim().slice(0, MAX_FILE_NAME_CHARACTERS)
  return name === '' ? undefined : name
}

function show(job: JobRow) {
  const request: Partial<ImportRequest> = JSON.parse(job.request)
  const { reached, skipped, list, share = 0 }: ImportProgress = JSON.parse(job.progress)
  const { read, added, changed, refused } = reached?.counts ?? { read: 0, added: 0, changed: 0, refused: 0 }
  return {
    name: request.name ?? null,
    format: request.format ?? null,
    source: request.source ?? null,
    window: request.window ?? DEFAULT_WINDOW,
    dry_run: request.isDry === true ? 1 : 0,
    percent: Math.floor(share * 100),
    lines: read + refused,
    new: added,
    changed: changed - added,
    unchanged: read - changed,
    refused,
    errors: reached?.faults ?? [],
    skipped: skipped ?? null,
    complete: list === undefined ? null : list.incomplete === undefined ? 1 : 0,
  }
}

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

const feedsAnswer = listAnswer(
  feed,
  {
    count: 'Number of feeds',
    data: 'The feeds, in the order of the settings',
    description: 'Feeds; none if the setting `feeds` is not given',
  },
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
)

export const feedsRoute: AddRoutes = (app, shared, { feeds, timeZone }) => {
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
