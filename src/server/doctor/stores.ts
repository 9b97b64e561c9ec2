import type { Database } from '../../storage/database/database.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { schemaOf } from '../../storage/database/transfer-marks.ts'
import type { Config } from '../config/config.ts'
import { fail, ok, problemsOr, warn, type Check, type Result } from './finding.ts'
import { serverState } from './queries.ts'

/** Connections of one process besides those of the setting: LISTEN, a snapshot, a command. */
const FURTHER_CONNECTIONS = 4

/** The database and the store of images. */
export function storeChecks(config: Config, database: Database): readonly Check[] {
  return [
    { name: 'database', run: () => checkDatabase(config, database) },
    { name: 'pages of the database', run: () => checkPages(database) },
    { name: 'image store', run: () => checkImages(config) },
  ]
}

async function checkDatabase(config: Config, database: Database): Promise<readonly Result[]> {
  const schema = await schemaOf(database)
  if (config.databaseUrl === '') return [ok(`SQLite, schema ${schema}`)]
  const state = await database.first(serverState())
  if (state === undefined) return [fail('PostgreSQL does not report its state', 'see its log')]
  const problems: Result[] = []
  const { connections, has_trigrams, max_connections, release } = state
  if (!has_trigrams)
    problems.push(
      warn(
        'the extension pg_trgm is missing: a search of images by name scans all of them',
        'CREATE EXTENSION pg_trgm; then restart the service',
      ),
    )
  const wanted = config.databaseConnections + FURTHER_CONNECTIONS
  if (wanted > max_connections)
    problems.push(
      fail(
        `the server accepts ${max_connections} connections, and this node may open ${wanted}`,
        'lower --database-connections, or raise max_connections',
      ),
    )
  else if (connections > 0.9 * max_connections)
    problems.push(
      warn(
        `${connections} of ${max_connections} connections of the server are in use`,
        'lower --database-connections of each node, or raise max_connections',
      ),
    )
  return problemsOr(
    problems,
    `PostgreSQL ${release}, schema ${schema}, ${connections} of ${max_connections} connections in use`,
  )
}

const RESTORE = 'catalejo restore PLACE --data DIR, into an empty folder'

async function checkPages(database: Database): Promise<readonly Result[]> {
  const faults = await database.check()
  return problemsOr(
    faults.slice(0, 3).map((fault) => fail(`the database is damaged: ${fault}`, RESTORE)),
    'no damage found',
  )
}

async function checkImages({ blobsUrl, data }: Config): Promise<readonly Result[]> {
  if (blobsUrl === undefined) return [ok(`files in ${data}`)]
  // Loaded on demand: the SDK is large.
  const { probeS3 } = await import('../../storage/blobs/s3/client.ts')
  const { hasConditionalWrites, hasVersioning } = await probeS3(blobsUrl)
  const problems: Result[] = []
  if (!hasConditionalWrites)
    problems.push(
      fail(
        'the object store ignores If-None-Match: two instances could overwrite each other',
        'use a store with conditional writes, such as Amazon S3 or Ceph 18',
      ),
    )
  if (hasVersioning)
    problems.push(
      warn(
        'the bucket keeps versions: deleted images stay there',
        'add a lifecycle rule that removes noncurrent versions',
      ),
    )
  return problemsOr(problems, `bucket ${blobsUrl.bucket}, with conditional writes`)
}

/** What a database that could not be opened means. */
export function unopened(error: Error): Result {
  const { message } = error
  if (/is at schema \d+, this version needs/.test(message))
    return warn(
      message.replace(/: catalejo serve.*$/, ''),
      `start the service: it keeps a copy, and upgrades the database to schema ${SCHEMA}`,
    )
  if (/this version knows only/.test(message))
    return fail(message, 'install the newer version, or see "Go back" in docs/operations/upgrading.md')
  return fail(message, / is damaged /.test(message) ? RESTORE : 'see docs/operations/troubleshooting.md')
}
