/** Lists while the records are being loaded, and while the database cannot be read. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OverloadError } from '../../src/lib/errors.ts'
import { createTasks, type Tasks } from '../../src/lib/tasks.ts'
import { names } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { storeManyDomains } from '../support/many-domains.ts'
import { many, openLists, getRequest } from '../support/open-lists.ts'
import { startService } from '../support/service.ts'
import { temporaryFolder } from '../support/folder.ts'

const tasks = createTasks(1)
after(() => tasks.close())

/** Threads that begin nothing until they are released. */
function heldTasks(): { readonly held: Tasks; readonly release: () => void } {
  const released = Promise.withResolvers<void>()
  const held: Tasks = {
    ...tasks,
    run: async (module, input, options) => {
      await released.promise
      return tasks.run(module, input, options)
    },
  }
  return { held, release: released.resolve }
}

test('a list waits until the records are loaded, and shows what was written meanwhile', async () => {
  const { held, release } = heldTasks()
  await using opened = await openLists(held)
  await opened.store(many(10))
  await assert.rejects(opened.nameIndex.assertReady(), /not loaded/)
  const page = opened.page(getRequest({}))
  await opened.store(many(20))
  release()
  assert.equal((await page).count, 20)
  await opened.nameIndex.assertReady()
})

test('a list that waits too long is a 503 with Retry-After, and ends if its client leaves', async (t) => {
  const { held, release } = heldTasks()
  await using opened = await openLists(held)
  await opened.store(many(10))
  const leaving = new AbortController()
  const left = opened.nameIndex.current({ left: () => leaving.signal })
  leaving.abort(new Error('left'))
  await assert.rejects(left, /left/)
  // Each look at the clock finds almost the whole wait over. The timers stay real: one that began before them could not be cleared.
  let now = performance.now()
  const clock = t.mock.method(performance, 'now', () => (now += 9_900))
  await assert.rejects(
    opened.page(getRequest({})),
    (error) => error instanceof OverloadError && error.headers['retry-after'] === '1',
  )
  clock.mock.restore()
  release()
})

test('a service is not ready until its records are loaded', async () => {
  await using folder = await temporaryFolder()
  let recorded: readonly string[]
  {
    await using first = await startService({ data: folder.path })
    recorded = await storeManyDomains(first, 5_000)
    await first.stop()
    await using service = await startService({ data: folder.path })
    const listed = names(service, { limit: 5 })
    assert.equal((await call(service, '/readyz')).status, 503)
    assert.equal((await call(service, '/healthz')).status, 200)
    assert.deepEqual(await listed, recorded.slice(0, 5))
    await eventually(async () => (await call(service, '/readyz')).status === 200, 'it is ready')
  }
})
