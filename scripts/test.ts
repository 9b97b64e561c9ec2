/**
 * All tests; then those that a database has a part in once more on PostgreSQL. The server comes with the development
 * packages, or from the folder that TEST_POSTGRES_BIN names. Where none can run, that part is skipped and says so. Last,
 * one after the other, those that want the machine for themselves. With files as arguments, only those.
 */
import { globSync } from 'node:fs'
import { relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run as runTests } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { missingPrograms } from '../test/support/ceph.ts'
import { noHaproxy } from '../test/support/haproxy.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { IMAGES_ON_ONE_NODE } from '../test/two-nodes/exceptions.ts'

/** Of each, some three servers and four processes of ours: beside one another they would wait for the machine. */
const ALONE = 'test/two-nodes/'
const ON_A_DATABASE = ['admin', 'domainwatch', 'imagestore', 'keys', 'corpus', 'verifying', 'nodes'].map(
  (name) => `test/${name}/`,
)
const ALL = ['src/', 'console/', 'test/!(two-nodes)/']
/** Files at once: with four, two processors took as long, and each test twice as long. */
const AT_ONCE = 2
/** One of these begun last would be waited for alone. */
const LONGEST = ['s3/ceph', 'durability/kill', 'deploy/balancer'].map((name) => `test/${name}.test.ts`)
const TIMEOUT_MS = 600_000

/** Hundreds of processes load the same sources: compiled once, each starts in half the time. */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

const asked = process.argv.slice(2).map((path) => relative('', path))
const wanted = asked.length > 0 ? asked : undefined
const within = (folders: readonly string[]) =>
  wanted?.filter((path) => folders.some((folder) => path.startsWith(folder))) ?? folders.flatMap(testsIn)

const postgres = await startPostgres(process.env['TEST_POSTGRES_BIN']).catch((error: unknown) => {
  console.error('No PostgreSQL to test with:', error)
  return undefined
})
// Whoever stops the tests stops what they run on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void (postgres?.stop() ?? Promise.resolve()).then(() => process.exit(1)))
}
process.env['NODE_COMPILE_CACHE'] = COMPILED
const server = postgres === undefined ? {} : { TEST_POSTGRES_URL: postgres.url }
try {
  await run('SQLite', wanted?.filter((path) => !path.startsWith(ALONE)) ?? longestFirst(), AT_ONCE, server)
  if (postgres === undefined) console.log('\n== PostgreSQL: SKIPPED, it cannot run here')
  else await run('PostgreSQL', onPostgres(), AT_ONCE, { ...server, TEST_DATABASE: 'postgres' })
  await run('Two nodes', within([ALONE]), 1, server)
} finally {
  await postgres?.stop()
}

function testsIn(folder: string): string[] {
  return globSync(`${folder}**/*.test.ts`).toSorted()
}

function longestFirst(): string[] {
  return [...LONGEST, ...ALL.flatMap(testsIn).filter((path) => !LONGEST.includes(path))]
}

/** Where the suite on two nodes runs, which stand on PostgreSQL, it has most of image hosting's tests: once is enough. */
function onPostgres(): string[] {
  const files = within(ON_A_DATABASE)
  if (wanted !== undefined || missingPrograms().length > 0 || noHaproxy !== false) return files
  const own = IMAGES_ON_ONE_NODE.map((file) => `test/${file}`)
  return files.filter((path) => !path.startsWith('test/imagestore/') || own.includes(path))
}

/** Runs test files and tells of them; what fails makes it the fault of this process. */
async function run(
  name: string,
  files: readonly string[],
  atOnce: number,
  environment: Record<string, string>,
): Promise<void> {
  if (files.length === 0) return
  console.log(`\n== ${name}`)
  const env = { ...process.env, ...environment }
  const events = runTests({ files: [...files], concurrency: atOnce, timeout: TIMEOUT_MS, env })
  events.on('test:fail', () => (process.exitCode = 1))
  const told = events.compose(new spec())
  told.pipe(process.stdout, { end: false })
  await finished(told)
}
