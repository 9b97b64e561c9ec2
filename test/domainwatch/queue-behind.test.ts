import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settledHead } from '../contracts/heard.ts'
import { names, record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { claim, release, recordStatements } from '../support/queue.ts'
import { startService } from '../support/service.ts'

/** More than a claim applies one by one. */
const MANY = 1_100
const COUNTED = `WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < ${MANY})`

const behind = {
  'changes of records': `UPDATE domains SET agent = 'otro'`,
  'changes of images': `${COUNTED} INSERT INTO changes (at, topic, kind, key)
    SELECT (SELECT max(at) FROM changes), 'image', 'deleted', 'key' || i FROM counted`,
}

for (const [what, statement] of Object.entries(behind)) {
  test(`a claim after ${MANY} ${what} lets the index catch up, instead of counting in a transaction`, async () => {
    await using service = await startService()
    const data = Array.from({ length: MANY }, (_, i) => record(`n${i}`, { status: 0 }))
    await stored(service, data, { encoding: 'json' })
    const { database, metrics } = service.app.context
    await eventually(async () => /^catalejo_search_ready 1$/m.test(await metrics.text()), 'the index')
    // The index waits for other transactions of the server, those of other tests, too.
    await settledHead(database)
    assert.equal((await names(service, { limit: 1 })).length, 1)
    const statements = recordStatements(database)
    const claimed = await claim(service, service.domainKey, { limit: 2 })
    const usual = [...statements].toSorted()
    await release(service, service.domainKey)

    await service.sql(statement)
    await settledHead(database)
    statements.clear()
    const again = await claim(service, service.domainKey, { limit: 2 })
    assert.deepEqual([...statements].toSorted(), usual)
    assert.deepEqual([again.names, again.remaining], [claimed.names, MANY])
  })
}
