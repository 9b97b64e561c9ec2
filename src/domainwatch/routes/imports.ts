import type { EndpointShared } from '../../http/endpoint.ts'
import { array, integer, nullable, object, problem, string } from '../../http/openapi/json-schema.ts'
import { choice, integer as integerParameter, text, type Parameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { uploadEndpoint } from '../../http/upload-endpoint.ts'
import { isDisplayName } from '../../lib/free-text.ts'
import { domainErrors } from '../errors.ts'
import { MEMBER_FORMATS } from '../import/format.ts'
import type { Jobs } from '../jobs/index.ts'
import {
  MAX_FILE_BYTES,
  MAX_OPEN_JOBS,
  type ImportProgress,
  type ImportRequest,
  type JobRow,
} from '../jobs/job.ts'
import { DEFAULT_WINDOW, WINDOW_NAMES } from '../registry/rules.ts'
import { accepted, jobEndpoints } from './job-endpoints.ts'

const MAX_SOURCE_CHARACTERS = 100

const MAX_FILE_NAME_CHARACTERS = 200

const importFields = {
  name: nullable(string('Name of the file; null if the client did not send one')),
  format: nullable(string('Format of the file; null if it is to be detected')),
  source: nullable(string('Source of the list; null for the format and the window')),
  window: string({ enum: WINDOW_NAMES, description: 'Time that a list of deletions covers' }),
  dry_run: integer({ enum: [0, 1], description: '1 if nothing is stored, only counted' }),
  percent: integer('Share of the file that is done, 0 to 100'),
  lines: integer('Lines that were read'),
  new: integer('Records or numbers added'),
  changed: integer('Records or numbers changed'),
  unchanged: integer('Valid lines that changed nothing'),
  refused: integer('Invalid lines'),
  errors: array(
    object({ line: integer('Number of the line'), msg: string('What is wrong, in Spanish') }),
    'The first 100 invalid lines',
  ),
  skipped: nullable(
    string({
      enum: ['identical', 'older', null],
      description: 'Why the list changed nothing: it is the last one of its source, or not later than that',
    }),
  ),
  complete: nullable(
    integer({
      enum: [0, 1, null],
      description: '0 if names that the list lacks are not taken as absent; null until it is known',
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
  ...text('Name of the source of the list; the format and the window unless given', MAX_SOURCE_CHARACTERS),
  parse(given) {
    const isName = given !== '' && given.length <= MAX_SOURCE_CHARACTERS && isDisplayName(given)
    return isName && given === given.trim() && !given.startsWith('feed:')
      ? { value: given }
      : {
          takes: `debe ser un nombre de 1 a ${MAX_SOURCE_CHARACTERS} caracteres que no sea el de una fuente (feed:)`,
        }
  },
}

export function importRoutes(app: HttpServer, shared: EndpointShared, jobs: Jobs, timeZone: string): void {
  uploadEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['write'],
    path: '/api/v1/domainwatch/import',
    maxBytes: MAX_FILE_BYTES,
    parameters: {
      format: choice('Format of the file; detected unless given', MEMBER_FORMATS),
      source,
      window: choice(
        `Time that a list of deletions covers; \`${DEFAULT_WINDOW}\` unless given`,
        WINDOW_NAMES,
      ),
      dry_run: integerParameter('1 counts what an import would change, and stores nothing', 0, 1),
    },
    document: {
      operation: 'importDomains',
      summary: 'Import a list of the registry, or numbers of names',
      description:
        'Takes a file, plain or compressed with gzip or zstd, and imports it in the background, by the rules of `catalejo import`. ' +
        'A list that is the same as the last one of its source changes nothing.',
      body: object(
        { file: string({ format: 'binary', description: 'The list' }) },
        { examples: [{ file: 'catalejo.cl\n' }] },
      ),
      answers: {
        202: accepted(),
        409: problem('The import was stopped while its file arrived', domainErrors.job_stopped()),
        429: problem('The account has its maximum of jobs', domainErrors.too_many_jobs(MAX_OPEN_JOBS)),
      },
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
  const { reached, skipped, list, share = 0, secondsLeft }: ImportProgress = JSON.parse(job.progress)
  const { read, added, changed, refused } = reached?.counts ?? { read: 0, added: 0, changed: 0, refused: 0 }
  const more = {
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
  return { more, secondsLeft }
}
