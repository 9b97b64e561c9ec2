import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { missingPrograms } from '../support/ceph.ts'
import { noHaproxy } from '../support/haproxy.ts'
import { startTwoNodes } from '../support/two-nodes.ts'
import { SHORT_FAULTS } from '../soak/faults.ts'
import { soak } from '../soak/soak.ts'
import { EXCEPTIONS } from './exceptions.ts'
import { runSuite } from './suite.ts'

const missing = missingPrograms()
const noCeph =
  missing.length > 0 && `not installed: ${missing.join(', ')} (Debian: radosgw, ceph-mon, ceph-osd)`

suite('two nodes behind a balancer over PostgreSQL and S3', { skip: noCeph || noHaproxy }, () => {
  test('all of it', { timeout: 900_000 }, async (context) => {
    await using place = await startTwoNodes()

    await context.test('break in turn, one after the other, and keep every promise', async (own) => {
      const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 1_000_000))
      own.diagnostic(`seed ${seed}: node scripts/soak.ts --minutes 0 --seed ${seed}`)
      const say = (line: string) => own.diagnostic(line)
      assert.deepEqual(await soak(place, { seed, faults: SHORT_FAULTS, forMs: 0, say }), [])
    })

    // They would only take the machine from what follows.
    await Promise.all(place.seats.map((seat) => seat.kill()))

    await context.test('keep the contract, but for what is listed', async (own) => {
      const ended = await runSuite(place)
      const count = (outcome: string) => ended.filter((each) => each.outcome === outcome).length
      own.diagnostic(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
      assert.ok(count('passed') > 1_000, 'the suite was run')
      const isListed = (file: string, name: string) =>
        EXCEPTIONS.some(([listedFile, listedName]) => listedFile === file && listedName === name)
      const failed = ended.filter(({ outcome }) => outcome === 'failed')
      const unexpected = failed.filter(({ file, name }) => !isListed(file, name))
      assert.deepEqual(
        unexpected.map(({ file, name, reason }) => `${file}: ${name}: ${reason}`),
        [],
      )
      const listedForNothing = EXCEPTIONS.filter(
        ([file, name]) => !failed.some((each) => each.file === file && each.name === name),
      )
      assert.deepEqual(listedForNothing, [], 'what passes is no exception')
    })
  })
})
