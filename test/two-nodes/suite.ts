import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TwoNodes } from '../support/two-nodes.ts'
import { BLOBS_VARIABLE } from '../support/s3.ts'
import type { Ended } from './reporter.ts'

const TESTS = fileURLToPath(new URL('../', import.meta.url))
const REPORTER = fileURLToPath(new URL('./reporter.ts', import.meta.url))
/** Where the tests are that go through the public door. */
const FOLDERS = ['corpus', 'domainwatch', 'http', 'imagestore', 'keys']

/** Runs the tests of the contract, their service being two nodes behind a balancer. */
export async function runSuite(
  { postgres, ceph, bucket }: Pick<TwoNodes, 'postgres' | 'ceph' | 'bucket'>,
  only: readonly string[] = [],
): Promise<Ended[]> {
  const files = only.length > 0 ? only : (await Promise.all(FOLDERS.map(testsIn))).flat()
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const child = spawn(
    process.execPath,
    ['--test', `--test-reporter=${REPORTER}`, '--test-concurrency=2', '--test-timeout=120000', ...files],
    {
      env: {
        ...environment,
        TEST_NODES: '2',
        TEST_DATABASE: 'postgres',
        TEST_POSTGRES_URL: postgres.url,
        [BLOBS_VARIABLE]: `s3://${bucket}?endpoint=${ceph.endpoint}`,
        AWS_ACCESS_KEY_ID: ceph.accessKeyId,
        AWS_SECRET_ACCESS_KEY: ceph.secretAccessKey,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  await once(child, 'close')
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): Ended => JSON.parse(line))
    .map((ended) => ({ ...ended, file: relative(TESTS, ended.file) }))
}

async function testsIn(folder: string): Promise<string[]> {
  const names = await readdir(join(TESTS, folder))
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => join(TESTS, folder, name))
}
