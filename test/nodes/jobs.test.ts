import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { record, stored } from '../support/domains.ts'
import { call, send, type Fields } from '../support/http.ts'
import { acceptedId, BULK, ended, IMPORTS, jobOf, upload, type Job } from '../support/jobs.ts'
import { startService, type TestService } from '../support/service.ts'
import { prepareInstance } from './instance.ts'

const LINES = 30_000
const RECORDS = 20_000
const list = Array.from({ length: LINES }, (_, i) => `n${(i * 7_919) % LINES}.cl\n`).join('')

async function prepareStopped(one: TestService) {
  await one.stop()
  return prepareInstance(one)
}

suite('jobs on several nodes', () => {
  test('an import whose node is killed is continued by another one, and stores every line once', async () => {
    await using one = await startService()
    await using instance = await prepareStopped(one)
    const first = await instance.start()
    const second = await instance.start()
    const id = acceptedId(await upload(first, list, { format: 'deletions' }))
    let during: Job | undefined
    await eventually(async () => {
      during = await jobOf(second, IMPORTS, id)
      return Number(during['new']) > 0
    }, 'a part of the import')
    // One of them runs it.
    await Promise.all([first.kill(), second.kill()])
    await instance.endLeases()
    assert.equal(during?.state, 'running')
    const [before = 0] = await instance.changes()
    assert.ok(before > 0 && before < LINES, `${before} names`)

    const third = await instance.start()
    assert.equal((await jobOf(third, IMPORTS, id))['new'], before)
    const job = await ended(third, IMPORTS, id)
    const counts = { lines: LINES, new: LINES, changed: 0, unchanged: 0, refused: 0, skipped: null }
    assert.partialDeepStrictEqual(job, { state: 'done', ...counts, complete: 1 })
    assert.deepEqual(await instance.changes(), [LINES, LINES, 1])
  })

  test('a bulk change whose node is killed is continued and changes every record once, and so does its undo', async () => {
    await using one = await startService()
    const names = Array.from({ length: RECORDS }, (_, i) => `n${i}`)
    await stored(
      one,
      names.map((name) => record(name)),
    )
    await using instance = await prepareStopped(one)
    let node = await instance.start()
    /** Kills the node in the middle of a job, which the next one ends. */
    const interrupted = async (path: string, fields: Fields) => {
      const query = { api: node.domainKey }
      const id = acceptedId(await send(node, path, fields, { encoding: 'json', query }))
      let during: Job | undefined
      await eventually(async () => {
        during = await jobOf(node, BULK, id)
        return Number(during['done']) > 0
      }, 'a part of the change')
      await node.kill()
      await instance.endLeases()
      assert.equal(during?.state, 'running')
      node = await instance.start()
      assert.partialDeepStrictEqual(await ended(node, BULK, id), {
        state: 'done',
        matched: RECORDS,
        done: RECORDS,
        skipped: 0,
      })
      return id
    }
    const seen = async () => {
      const query = { api: node.domainKey, seen: 1, limit: 1 }
      return Object((await call(node, '/api/v1/domainwatch/list', { query })).body).count
    }
    const id = await interrupted(BULK, { search: 'n', set: { seen: 1 }, expect: RECORDS })
    assert.deepEqual(await instance.changes(), [RECORDS, 2 * RECORDS, 2])
    assert.equal(await seen(), 1)
    await interrupted(`${BULK}/undo`, { id })
    assert.deepEqual(await instance.changes(), [RECORDS, 3 * RECORDS, 3])
    assert.equal(await seen(), 0)
  })

  test('an import that is stopped stores nothing more, on whichever node', async () => {
    await using one = await startService()
    await using instance = await prepareStopped(one)
    const first = await instance.start()
    const second = await instance.start()
    const id = acceptedId(await upload(first, list, { format: 'deletions' }))
    await eventually(
      async () => Number((await jobOf(second, IMPORTS, id))['new']) > 0,
      'a part of the import',
    )
    const query = new URLSearchParams({ api: second.domainKey, id })
    const stopped = await fetch(`${second.url}${IMPORTS}?${query}`, { method: 'DELETE' })
    const job = Object(await stopped.json())
    assert.equal(job.state, 'stopped')
    // The next one of the account starts when the stopped one has left.
    const next = acceptedId(await upload(first, 'siguiente.cl\n', { format: 'deletions', source: 'otra' }))
    assert.partialDeepStrictEqual(await ended(first, IMPORTS, next), { state: 'done', new: 1 })
    assert.deepEqual((await instance.changes())[0], job.new + 1)
    assert.deepEqual(await jobOf(first, IMPORTS, id), job)
  })
})
