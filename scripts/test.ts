/**
 * All tests; then those that a database has a part in once more on PostgreSQL. The server comes with the development
 * packages, or from the folder that TEST_POSTGRES_BIN names. Where none can run, that part is skipped and says so. Last,
 * one after the other, those that want the machine for themselves. With files as arguments, only those.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../test/support/postgres.ts'

/** Of each, some three servers and four processes of ours: beside one another they would wait for the machine. */
const ALONE = 'test/two-nodes/'
const ON_A_DATABASE = ['admin', 'domainwatch', 'imagestore', 'keys', 'corpus', 'verifying', 'nodes'].map(
  (name) => `test/${name}/`,
)
const ALL = ['src/', 'console/', 'test/!(two-nodes)/']

/** Hundreds of processes load the same sources: compiled once, each starts in half the time. */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url))

const asked = process.argv.slice(2).map((path) => relative('', path))
const wanted = asked.length > 0 ? asked : undefined
const within = (folders: readonly string[]) =>
  wanted?.filter((path) => folders.some((folder) => path.startsWith(folder))) ?? folders.map(testsIn)

const postgres = await startPostgres(process.env['TEST_POSTGRES_BIN']).catch((error: unknown) => {
  console.error('No PostgreSQL to test with:', error)
  return undefined
})
// Whoever stops the tests stops what they run on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void (postgres?.stop() ?? Promise.resolve()).then(() => process.exit(1)))
}
const server = postgres === undefined ? {} : { TEST_POSTGRES_URL: postgres.url }
try {
  const ended = [
    await run('SQLite', wanted?.filter((path) => !path.startsWith(ALONE)) ?? ALL.map(testsIn), 2, server),
    postgres === undefined
      ? skipped('PostgreSQL')
      : await run('PostgreSQL', within(ON_A_DATABASE), 2, { ...server, TEST_DATABASE: 'postgres' }),
    await run('Two nodes', within([ALONE]), 1, server),
  ]
  process.exitCode = ended.every((code) => code === 0) ? 0 : 1
} finally {
  await postgres?.stop()
}

function testsIn(folder: string): string {
  return `${folder}**/*.test.ts`
}

function skipped(name: string): number {
  console.log(`\n== ${name}: SKIPPED, it cannot run here`)
  return 0
}

/** @returns the exit code of the runner; 0 where there is nothing to run */
async function run(
  name: string,
  files: readonly string[],
  atOnce: number,
  environment: Record<string, string>,
): Promise<number> {
  if (files.length === 0) return 0
  console.log(`\n== ${name}`)
  const child = spawn(
    process.execPath,
    ['--test', `--test-concurrency=${atOnce}`, '--test-timeout=600000', ...files],
    { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...environment } },
  )
  const [code] = await once(child, 'exit')
  return Number(code ?? 1)
}
