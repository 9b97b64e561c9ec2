import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingPrograms, startCeph } from '../support/ceph.ts'
import { noHaproxy } from '../support/haproxy.ts'
import { startPostgres } from '../support/postgres.ts'
import { makeBucket } from '../support/two-nodes.ts'
import { runAgain, runSuite, type Ran } from './suite.ts'

const missing = missingPrograms()
const noCeph =
  missing.length > 0 && `not installed: ${missing.join(', ')} (Debian: radosgw, ceph-mon, ceph-osd)`
const BUCKET = 'catalejo'
/** Tests that look into the process of the service prove nothing for two nodes, so they must stay few. */
const MOST_IN_PROCESS = 45
const LEAST_PASSED = 250

/** Characters of a failure's reason that are printed. */
const REASON = 1_000

/** In one line. */
const describeRun = ({ file, name, reason }: Ran) =>
  `${file}: ${name}: ${JSON.stringify(reason.slice(0, REASON))}`

test(
  'two nodes behind a balancer, over PostgreSQL and S3, keep the contract',
  { skip: noCeph || noHaproxy, timeout: 3_600_000 },
  async (context) => {
    const only = process.env['TEST_FILES']?.split(' ') ?? []
    await using stack = new AsyncDisposableStack()
    const postgres = await startPostgres(process.env['TEST_POSTGRES_BIN'])
    stack.defer(() => postgres.stop())
    const ceph = stack.use(await startCeph())
    await makeBucket(ceph, BUCKET)

    const place = { postgres, ceph, bucket: BUCKET }
    const first = await runSuite(place, only)
    const failed = first.filter(({ outcome }) => outcome === 'failed')
    const { ran, passedThen } = await runAgain(place, first, failed)
    for (const each of passedThen)
      context.diagnostic(`FAILED AT FIRST and passed alone: ${describeRun(each)}`)
    const withOutcome = (outcome: string) => ran.filter((each) => each.outcome === outcome)
    const counts = ['passed', 'failed', 'skipped', 'in process only'].map(
      (outcome) => `${withOutcome(outcome).length} ${outcome}`,
    )
    context.diagnostic(counts.join(', '))
    for (const { file, name } of withOutcome('in process only'))
      context.diagnostic(`in process only: ${file}: ${name}`)
    const again = withOutcome('failed').map(describeRun)
    assert.deepEqual(again, [], 'failed behind two nodes, also by themselves')
    if (only.length > 0) return
    assert.ok(withOutcome('passed').length > LEAST_PASSED, 'the suite was run')
    assert.ok(withOutcome('in process only').length <= MOST_IN_PROCESS)
  },
)
