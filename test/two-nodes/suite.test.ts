import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingPrograms, startCeph } from '../support/ceph.ts'
import { noHaproxy } from '../support/haproxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { makeBucket } from '../support/two-nodes.ts'
import { EXCEPTIONS } from './exceptions.ts'
import { runSuite } from './suite.ts'

const missing = missingPrograms()
const noCeph =
  missing.length > 0 && `not installed: ${missing.join(', ')} (Debian: radosgw, ceph-mon, ceph-osd)`
const BUCKET = 'catalejo'
/** Tests that look into the process of the service are no proof for two nodes: they must stay few. */
const MOST_IN_PROCESS = 40

test(
  'two nodes behind a balancer, over PostgreSQL and S3, keep the contract, but for what is listed',
  { skip: noCeph || noHaproxy, timeout: 1_800_000 },
  async (context) => {
    const only = process.env['TEST_FILES']?.split(' ') ?? []
    await using stack = new AsyncDisposableStack()
    const postgres = await startPostgres(process.env['TEST_POSTGRES_BIN'])
    stack.defer(() => postgres.stop())
    const ceph = stack.use(await startCeph())
    await makeBucket(ceph, BUCKET)

    const ran = await runSuite({ postgres, ceph, bucket: BUCKET }, only)
    const withOutcome = (outcome: string) => ran.filter((each) => each.outcome === outcome)
    const counts = ['passed', 'failed', 'skipped', 'in process only'].map(
      (outcome) => `${withOutcome(outcome).length} ${outcome}`,
    )
    context.diagnostic(counts.join(', '))
    for (const { file, name } of withOutcome('in process only'))
      context.diagnostic(`in process only: ${file}: ${name}`)
    const failed = withOutcome('failed')
    const isListed = (file: string, name: string) =>
      EXCEPTIONS.some(([listedFile, listedName]) => listedFile === file && listedName === name)
    const unexpected = failed.filter(({ file, name }) => !isListed(file, name))
    assert.deepEqual(
      unexpected.map(({ file, name, reason }) => `${file}: ${name}: ${reason}`),
      [],
    )
    if (only.length > 0) return
    assert.ok(withOutcome('passed').length > 1_000, 'the suite was run')
    assert.ok(withOutcome('in process only').length <= MOST_IN_PROCESS)
    const listedForNothing = EXCEPTIONS.filter(
      ([file, name]) => !failed.some((each) => each.file === file && each.name === name),
    )
    assert.deepEqual(listedForNothing, [], 'what passes is no exception')
  },
)
