/**
 * All tests; then those that a database has a part in once more on PostgreSQL. The server comes with the development
 * packages, or from the folder that TEST_POSTGRES_BIN names. Where none can run, that part is skipped and says so.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../test/support/postgres.ts'

const ALL = ['src/**/*.test.ts', 'console/**/*.test.ts', 'test/**/*.test.ts']
const ON_A_DATABASE = ['admin', 'domainwatch', 'imagestore', 'keys', 'corpus', 'verifying', 'nodes'].map(
  (name) => `test/${name}/`,
)

/** Hundreds of processes load the same sources: compiled once, each starts in half the time. */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

const only = process.argv.slice(2).map((path) => relative('', path))
const onlyOnADatabase = only.filter((path) => ON_A_DATABASE.some((folder) => path.startsWith(folder)))
const postgres = await startPostgres(process.env['TEST_POSTGRES_BIN']).catch((error: unknown) => {
  console.error('No PostgreSQL to test with:', error)
  return undefined
})
// Whoever stops the tests stops what they run on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void (postgres?.stop() ?? Promise.resolve()).then(() => process.exit(1)))
}
try {
  const server = postgres === undefined ? {} : { TEST_POSTGRES_URL: postgres.url }
  console.log('\n== SQLite')
  const first = await run(only.length > 0 ? only : ALL, server)
  let second = 0
  if (only.length > 0 && onlyOnADatabase.length === 0) {
    console.log('\n== PostgreSQL: a database has no part in these')
  } else if (postgres === undefined) {
    console.log('\n== PostgreSQL: SKIPPED, it cannot run here')
  } else {
    console.log('\n== PostgreSQL')
    const files = only.length > 0 ? onlyOnADatabase : ON_A_DATABASE.map((folder) => `${folder}**/*.test.ts`)
    second = await run(files, { ...server, TEST_DATABASE: 'postgres' })
  }
  process.exitCode = first === 0 && second === 0 ? 0 : 1
} finally {
  await postgres?.stop()
}

async function run(files: readonly string[], environment: Record<string, string>): Promise<number> {
  const child = spawn(
    process.execPath,
    ['--test', '--test-concurrency=2', '--test-timeout=600000', ...files],
    { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...environment } },
  )
  const [code] = await once(child, 'exit')
  return Number(code ?? 1)
}
