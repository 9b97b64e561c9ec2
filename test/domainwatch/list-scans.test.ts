/** Lists that visit many records, and cursors that span many. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findPage } from '../../src/domainwatch/list/search.ts'
import { HttpError } from '../../src/lib/errors.ts'
import { finishNow, parseTimestamp, TimeSlice } from '../../src/lib/name-index/index.ts'
import { createTasks } from '../../src/lib/tasks.ts'
import { many, openLists, getRequest, type OpenedLists } from '../support/open-lists.ts'

const tasks = createTasks(1)
after(() => tasks.close())

/** Records are compared with these filters one by one, and none matches. */
const GAP = { modified_from: '2025-06-02', modified_to: '2025-06-02' }
const getContext = ({ clock, nameIndex }: OpenedLists) => nameIndex.contextAt(clock.now())

const UNMATCHED: readonly Readonly<Record<string, string>>[] = [
  GAP,
  { ...GAP, order: 'deleted' },
  { ...GAP, order: 'name' },
]

test('a list that finds nothing among many records pauses', async (t) => {
  await using opened = await openLists(tasks)
  const half = many(3_500).filter((_, i) => i % 2 === 0)
  await opened.store(many(3_500))
  await opened.store(
    half.map((one) => ({ ...one, reserve: 1 - one.reserve })),
    '2025-06-03 08:00:00',
  )
  const segments = await opened.nameIndex.current()
  for (const given of UNMATCHED) {
    const { filters, ascending, order = 'registered' } = getRequest(given)
    const sources = [{ kind: 'all' }] as const
    const listing = { sources, filters, order, ascending, limit: 5, context: getContext(opened) }
    // The slice of time is over at every check.
    const clock = t.mock.method(performance, 'now', () => Infinity)
    const search = findPage(segments, listing, new TimeSlice())
    let pauses = 0
    for (; search.next().done !== true; pauses++);
    clock.mock.restore()
    assert.ok(pauses > 2, `${pauses} pauses: ${JSON.stringify(given)}`)
    assert.deepEqual((await opened.page(getRequest(given))).count, 0)
  }
})

test('a record that changes during the search is found in its earlier state', async (t) => {
  await using opened = await openLists(tasks)
  await opened.store(many(2_000))
  const segments = await opened.nameIndex.current()
  const clock = t.mock.method(performance, 'now', () => Infinity)
  const request = getRequest({ search: 'grupo', agent: '', sort: 'asc' })
  const wanted = (await opened.expected(request)).map(({ name }) => name)
  const listing = { ...request, sources: [{ kind: 'all' }], order: 'registered', limit: 9_999 } as const
  const search = findPage(segments, { ...listing, context: getContext(opened) }, new TimeSlice())
  assert.equal(search.next().done, false)
  clock.mock.restore()
  await opened.update(wanted.slice(-9).map((domain) => ({ domain, agent: 'c' })))
  assert.equal((await opened.page({ ...request, limit: 9_999 })).count, wanted.length - 9)
  assert.equal(finishNow(search).items.length, wanted.length)
})

test('a forged cursor that spans everything is refused, one that spans some records is not', async () => {
  await using opened = await openLists(tasks)
  await opened.store(many(5_500))
  const name = new Uint8Array(Buffer.from('z'))
  const end = { key: parseTimestamp('9999-12-31 23:59:59'), name }
  const page = (low: string) => {
    const range = { low: { key: parseTimestamp(low), name }, high: end }
    return opened.page({
      ...getRequest({ last_register: '2' }),
      limit: 1,
      cursor: { after: end, registered: range },
    })
  }
  assert.equal((await page('2025-01-28 00:00:00')).count, 1)
  await assert.rejects(
    page('0001-01-01 00:00:00'),
    (error) => error instanceof HttpError && error.status === 400,
  )
})

test('an export in any order is complete and sorted, however many parts it has', async () => {
  await using opened = await openLists(tasks)
  await opened.store(many(4_000))
  await opened.store(many(2_000, 'b'), '2025-06-03 00:00:00')
  for (const [i, order] of ['registered', 'deleted', 'modified', 'name', 'length'].entries()) {
    const asked = getRequest({ search: i % 2 === 0 ? 'b' : '', order, sort: i % 3 === 0 ? 'asc' : 'desc' })
    const names = (await opened.expected(asked)).map(({ name }) => name)
    assert.ok((await opened.exported(asked)).join() === names.join(), order)
  }
})
