import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Ceph } from '../support/ceph.ts'
import type { TestPostgres } from '../support/postgres.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import { CONTRACT } from './contract.ts'
import type { Ended } from './reporter.ts'

const TESTS = fileURLToPath(new URL('../', import.meta.url))
const REPORTER = fileURLToPath(new URL('./reporter.ts', import.meta.url))
const END_OF_FILE = new URL('../../scripts/test/end-of-file.ts', import.meta.url).href
/** Five times as long as it takes on two processors. */
const TIMEOUT_MS = 50 * 60_000
/** Each has two nodes of its own: three concurrent ones took as long. */
const FILES_AT_ONCE = 2
/** Failures after which nothing is run again. */
const MOST_AGAIN = 8
/** The tier on PostgreSQL tries the same properties with all runs. */
const FEW_RUNS = { TEST_PROPERTY_RUNS: undefined, TEST_CORPUS: undefined }
/** How what a test throws begins that cannot be run on two nodes. */
const IN_PROCESS_ONLY = 'InProcessOnly'

export type Outcome = Ended['outcome'] | 'in process only'
export interface Ran extends Omit<Ended, 'outcome'> {
  readonly outcome: Outcome
}

interface Place {
  readonly postgres: TestPostgres
  readonly ceph: Ceph
  readonly bucket: string
}

/** Runs the tests of the contract, their service being two nodes behind a balancer. */
export async function runSuite(
  { postgres, ceph, bucket }: Place,
  only: readonly string[] = [],
  atOnce = FILES_AT_ONCE,
): Promise<Ran[]> {
  const files = only.length > 0 ? only : CONTRACT.map((file) => join(TESTS, file))
  const child = spawn(
    process.execPath,
    [
      '--test',
      `--import=${END_OF_FILE}`,
      `--test-reporter=${REPORTER}`,
      `--test-concurrency=${atOnce}`,
      '--test-timeout=300000',
      ...files,
    ],
    {
      env: {
        ...process.env,
        ...FEW_RUNS,
        NODE_TEST_CONTEXT: undefined,
        TEST_NODES: '2',
        TEST_DATABASE: 'postgres',
        TEST_POSTGRES_URL: postgres.url,
        [BLOBS_VARIABLE]: `s3://${bucket}?endpoint=${ceph.endpoint}`,
        AWS_ACCESS_KEY_ID: ceph.accessKeyId,
        AWS_SECRET_ACCESS_KEY: ceph.secretAccessKey,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: TIMEOUT_MS,
    },
  )
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  await once(child, 'close')
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Ended => JSON.parse(line))
    .map(({ file, outcome, ...ended }) => ({
      ...ended,
      file: relative(TESTS, file),
      outcome: ended.reason.startsWith(IN_PROCESS_ONLY) ? ('in process only' as const) : outcome,
    }))
}

/**
 * A shared machine may stand still for seconds: the files of a few failures are run once more, one at a time.
 * @returns the final result, and the failures that passed then
 */
export async function runAgain(
  place: Place,
  ran: readonly Ran[],
  failed: readonly Ran[],
): Promise<{ ran: readonly Ran[]; passedThen: readonly Ran[] }> {
  if (failed.length === 0 || failed.length > MOST_AGAIN) return { ran, passedThen: [] }
  const files = [...new Set(failed.map(({ file }) => file))]
  const second = await runSuite(
    place,
    files.map((file) => join(TESTS, file)),
    1,
  )
  const passed = (test: Ran) =>
    second.some(({ file, name, outcome }) => file === test.file && name === test.name && outcome === 'passed')
  return {
    ran: [...ran.filter(({ file }) => !files.includes(file)), ...second],
    passedThen: failed.filter(passed),
  }
}
