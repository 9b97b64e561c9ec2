/** Accounts that write large batches all the time, and others that write little. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Database } from '../../src/storage/database/database.ts'
import { record, stored, storedNames, update } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'

/** Records of a large batch: more than a claim applies one by one. */
const MANY = 1_100
const HOSTILE = ['a', 'b', 'c', 'd']

const batch = (prefix: string, size = MANY) =>
  Array.from({ length: size }, (_, i) => record(`${prefix}${i}`, { status: 0 }))

/** One connection for writes, which SQLite has anyway. */
const service = await startService({ flags: { 'database-connections': '3' } })
after(() => service[Symbol.asyncDispose]())
const keys = new Map<string, string>()
for (const account of [...HOSTILE, 'vecina', 'otra'])
  keys.set(account, (await service.newKey(account, 'domainwatch')).key)
const keyOf = (account: string) => keys.get(account) ?? ''

/** Counts the transactions that were asked for. */
function countTransactions(database: Database): () => number {
  let count = 0
  const transaction = database.transaction.bind(database)
  database.transaction = (work, author, options) => {
    // Without an author it may be a background job.
    if (author !== undefined) count++
    return transaction(work, author, options)
  }
  return () => count
}

let runs = 0

/** Stores what `write` asks for while the writer is held. Returns the names of the records in the order in which they were stored. */
async function getOrder(
  write: (queued: (transactions: number) => Promise<void>) => Promise<readonly Promise<unknown>[]>,
): Promise<string[]> {
  const { database } = service.app.context
  await using events = await EventReader.open(service, { api: service.domainKey })
  const asked = countTransactions(database)
  const began = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const hold = () => {
    began.resolve()
    return gate.promise
  }
  const held = database.transaction(hold, undefined, { rows: MANY })
  await began.promise
  const written = await write((transactions) =>
    eventually(() => asked() === transactions, `${transactions} transactions`),
  )
  gate.resolve()
  await Promise.all([held, ...written])
  const last = `ultimo${++runs}`
  await stored(service, [record(last)])
  const names: string[] = []
  while (names.at(-1) !== last) {
    for (const { data } of await events.take(1)) names.push(String(Object(Object(data).record).name))
  }
  return names.slice(0, -1)
}

test('small writes wait for one large batch of other accounts, not for all of them', async () => {
  await storedNames(service, ['vecina', 'otra'])
  const order = await getOrder(async (queued) => {
    const large = HOSTILE.map((name) => stored(service, batch(name), { key: keyOf(name), encoding: 'json' }))
    await queued(large.length)
    const small = ['vecina', 'otra'].flatMap((name) => {
      const key = keyOf(name)
      return [
        stored(service, [record(`${name}-1`)], { key }),
        stored(service, [record(`${name}-2`)], { key }),
        update(service, [{ domain: name, note: 'sí' }], { key }),
      ]
    })
    await queued(large.length + small.length)
    return [...large, ...small]
  })
  assert.equal(order.length, HOSTILE.length * MANY + 6)
  const small = ['otra', 'otra-1', 'otra-2', 'vecina', 'vecina-1', 'vecina-2']
  const last = Math.max(...small.map((name) => order.indexOf(name)))
  const before = order.slice(0, last + 1)
  assert.deepEqual(before.filter((name) => small.includes(name)).toSorted(), small)
  // Where they take longer than a turn, another large one has its own in between.
  const large = HOSTILE.filter((name) => before.includes(`${name}0`))
  assert.ok(large.length <= 2, before.join())
})

test('a large batch of an account waits for one of another account and for one turn of small ones', async () => {
  const order = await getOrder(async (queued) => {
    const sizes = [10, 800, MANY].flatMap((size) => [size, size])
    const key = keyOf('a')
    const hostile = sizes.map((size, i) => stored(service, batch(`a${i}-`, size), { key, encoding: 'json' }))
    await queued(sizes.length)
    const own = stored(service, batch('vecina'), { key: keyOf('vecina'), encoding: 'json' })
    await queued(sizes.length + 1)
    return [...hostile, own]
  })
  const large = order.filter((name) => /^(a[45]-|vecina)0$/.test(name))
  assert.equal(large.indexOf('vecina0'), 1, large.join(', '))
})

test('a small write of an account does not wait for all large batches of the same account', async () => {
  const order = await getOrder(async (queued) => {
    const large = HOSTILE.map((name) => stored(service, batch(`propia-${name}`), { encoding: 'json' }))
    await queued(large.length)
    const small = stored(service, [record('chica')])
    await queued(large.length + 1)
    return [...large, small]
  })
  assert.equal(order[0], 'chica')
})
