import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored, storedNames, update } from '../support/domains.ts'
import { call, nextQuery, send, type Fields } from '../support/http.ts'
import { acceptedId, BULK, ended, imported } from '../support/jobs.ts'
import { ManualClock, startService } from '../support/service.ts'

const ACTIVITY = '/api/v1/domainwatch/activity'
const DAY_MS = 86_400_000

// Changes have the time of the database.
const clock = new ManualClock(new Date().toISOString())
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const ana = (await service.newKey('Ana', 'domainwatch')).key
const query = { api: service.domainKey }

interface Change {
  readonly name: string
  readonly date: string
  readonly account: string
  readonly kind: string
  readonly from: Fields
  readonly to: Fields
}

async function activity(fields: Fields = {}) {
  const reply = await call(service, ACTIVITY, { query: { ...query, ...fields } })
  assert.equal(reply.status, 200, reply.text)
  const { count, data }: { count: number; data: readonly Change[] } = Object(reply.body)
  assert.equal(count, data.length)
  return { data, next: nextQuery(service, ACTIVITY, reply) }
}

/** What changed, without the times. */
const undated = ({ name, kind, from, to }: Change) => {
  const without = ({ date_mod: _mod, discarded_at: _discarded, deleted_at: _deleted, ...rest }: Fields) =>
    rest
  return [name, kind, without(from), without(to)]
}

test('an account sees what it changed, with the values before and after, newest first', async () => {
  await stored(service, [record('casa'), record('perro')])
  await update(service, [{ domain: 'casa', revision: 1, seen: 1 }])
  await update(service, [{ domain: 'casa', note: 'playa', tags: ['a', 'b'] }], { encoding: 'json' })
  await update(service, [{ domain: 'perro', revision: 1 }], { key: ana })
  await update(service, [{ domain: 'perro', discarded: 1, reserve: 1, status: 0 }])
  await update(service, [{ domain: 'perro', discarded: 0 }])
  const { data, next } = await activity()
  assert.equal(next, undefined)
  assert.deepEqual(data.map(undated), [
    ['perro', 'restored', { discarded: 1 }, { discarded: 0 }],
    [
      'perro',
      'discarded',
      { discarded: 0, reserved: 0, status: 1 },
      { discarded: 1, reserved: 1, status: 0 },
    ],
    ['casa', 'changed', { note: '', tags: [] }, { note: 'playa', tags: ['a', 'b'] }],
    ['casa', 'changed', { revision: 0, seen: 0 }, { revision: 1, seen: 1 }],
  ])
  assert.ok(data.every(({ account }) => account === 'grupo'))
})

test('pages follow each other', async () => {
  const names = Array.from({ length: 5 }, (_, i) => `pagina${i}`)
  await storedNames(service, names)
  for (const domain of names) await update(service, [{ domain, revision: 1 }])
  const found: string[] = []
  let page: Fields | undefined = { limit: 2 }
  while (page !== undefined) {
    const { data, next } = await activity(page)
    found.push(...data.map(({ name }) => name))
    page = next
  }
  assert.deepEqual(found.slice(0, 5), names.toReversed())
  assert.equal(found.length, (await activity()).data.length)
})

test('what a bulk change and its undo did is left out, other changes are not', async () => {
  await stored(service, [record('tanda1'), record('tanda2'), record('suelta')])
  await update(service, [{ domain: 'suelta', seen: 1 }])
  const set = { search: 'tanda', set: { revision: 1, add_tags: ['x'] } }
  const { body } = await send(service, BULK, set, { encoding: 'json', query })
  const { id, ...job } = await ended(service, BULK, Object(body).id)
  assert.equal(job['done'], 2)
  const undone = await send(service, `${BULK}/undo`, { id }, { query })
  assert.equal((await ended(service, BULK, acceptedId(undone)))['done'], 2)
  await update(service, [{ domain: 'tanda1', revision: 1 }])
  const { data } = await activity()
  assert.deepEqual(data.slice(0, 2).map(undated), [
    ['tanda1', 'changed', { revision: 0 }, { revision: 1 }],
    ['suelta', 'changed', { seen: 0 }, { seen: 1 }],
  ])
  assert.deepEqual(
    data.slice(2).filter(({ name }) => name.startsWith('tanda')),
    [],
  )
})

test('what an import changes is left out', async () => {
  await stored(service, [record('lista1', { status: 0 }), record('lista2', { status: 0 })])
  const now = new Date(clock.now()).toISOString()
  const list = `Nombre,Fecha\nlista1.cl,${now}\nlista2.cl,${now}\n`
  const job = await imported(service, list, { format: 'registrations', window: 'day' })
  assert.deepEqual([job['changed'], job['new']], [2, 0])
  await update(service, [{ domain: 'lista2', note: 'mía' }])
  const { data } = await activity()
  assert.deepEqual(data.filter(({ name }) => name.startsWith('lista')).map(undated), [
    ['lista2', 'changed', { note: '' }, { note: 'mía' }],
  ])
})

test('wrong parameters are named', async () => {
  for (const [wrong, msg] of [
    [{ limit: 201 }, 'El parámetro limit debe ser un entero entre 1 y 200'],
    [{ limit: 0 }, 'El parámetro limit debe ser un entero entre 1 y 200'],
    [{ cursor: 'x' }, 'El parámetro cursor debe ser el de la cabecera Link de la página anterior'],
  ] as const) {
    const { body } = await call(service, ACTIVITY, { query: { ...query, ...wrong } })
    assert.deepEqual(body, { status: 400, msg })
  }
})

test('nothing older than a day is listed', async () => {
  assert.notDeepEqual((await activity()).data, [])
  clock.advance(DAY_MS + 60_000)
  assert.deepEqual((await activity()).data, [])
})
