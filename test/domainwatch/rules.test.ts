/** The rules of the group hide and tag records, on all nodes from their commit on. */
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { exportedNames, names, record, stored, update, wholeRecords } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { call, send, type Fields, type Reply } from '../support/http.ts'
import { acceptedId, BULK, ended, IMPORTS, upload } from '../support/jobs.ts'
import { claim, release } from '../support/queue.ts'
import { NOT_IN_RULES } from '../../src/domainwatch/rules/index.ts'
import { localDateTime } from '../../src/lib/dates.ts'
import { startService } from '../support/service.ts'
import { watch } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const RULES = '/api/v1/domainwatch/rules'
const service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())
const query = { api: service.domainKey }

const PLAIN = { name: 'prueba', action: 'hide' }
const createRule = (fields: Fields, on = service) => send(on, RULES, fields, { query })
const edit = (id: string, fields: Fields) => send(service, `${RULES}/update`, { id, ...fields }, { query })
const remove = (id: string) => call(service, RULES, { method: 'DELETE', query: { ...query, id } })
const idIn = ({ body, text }: Reply): string => {
  assert.equal(Object(body).status, 200, text)
  return Object(body).id
}
const rule = async (fields: Fields) => idIn(await createRule({ ...PLAIN, ...fields }))
const rules = async (): Promise<readonly Record<string, unknown>[]> =>
  Object((await call(service, RULES, { query })).body).data

const toTags = async (name: string) =>
  (await wholeRecords(service, { pattern: name, fields: 'tags' }))[0]?.['tags']

afterEach(async () => {
  for (const { id } of await rules()) await remove(String(id))
})

test('rules are created, edited, paused and deleted by the whole group', async () => {
  const before = localDateTime(Date.now(), 'America/Santiago')
  const hide = await rule({ name: 'Con número', digits: 1, tag: 'Basura' })
  const tag = await rule({ name: 'Casas', action: 'tag', tag: 'Inmobiliaria', word: 'casa', rev: '' })
  const [first, second] = await rules()
  const { created_at, ...shown } = first ?? {}
  assert.ok(typeof created_at === 'string' && created_at >= (before ?? ''))
  assert.deepEqual(shown, {
    id: hide,
    name: 'Con número',
    action: 'hide',
    tag: null,
    filters: { digits: '1', tag: 'basura' },
    paused: 0,
    owner: 'grupo',
  })
  assert.deepEqual([second?.['tag'], second?.['filters']], ['inmobiliaria', { rev: '', word: 'casa' }])

  const other = (await service.newKey('vecina', 'domainwatch')).key
  const edited = await send(service, `${RULES}/update`, { id: hide, paused: 1 }, { query: { api: other } })
  assert.deepEqual(edited.body, { status: 200, id: hide })
  await edit(tag, { tag: 'casas' })
  assert.equal((await edit(hide, { search: '' })).status, 400)
  await edit(hide, { name: 'Largos', min_length: 20, search: '' })
  const after = await rules()
  assert.deepEqual(
    after.map(({ name, tag: added, filters, paused }) => [name, added, filters, paused]),
    [
      ['Largos', null, { min_length: '20', search: '' }, 1],
      ['Casas', 'casas', { rev: '', word: 'casa' }, 0],
    ],
  )
  assert.deepEqual((await remove(hide)).body, { status: 200, id: hide })
  assert.deepEqual(
    (await rules()).map(({ id }) => id),
    [tag],
  )
})

const REFUSED: readonly [Fields, string][] = [
  [{ action: 'hide', digits: 1 }, 'Falta el parámetro name'],
  [{ name: 'a', digits: 1 }, 'Falta el parámetro action'],
  [{ ...PLAIN, action: 'drop' }, 'El parámetro action debe ser hide o tag'],
  [PLAIN, 'La regla necesita al menos un filtro'],
  [{ ...PLAIN, search: '' }, 'La regla necesita al menos un filtro'],
  [{ ...PLAIN, action: 'tag', tag: 'a' }, 'La regla necesita al menos un filtro'],
  [{ ...PLAIN, action: 'tag', digits: 1 }, 'Falta el parámetro tag'],
  [{ ...PLAIN, digits: 2 }, 'El parámetro digits debe ser un entero entre 0 y 1'],
  [{ ...PLAIN, hidden: 0, digits: 1 }, 'El parámetro hidden no existe: ¿quiso decir hyphen?'],
  [{ ...PLAIN, seen: 0, digits: 1 }, 'El parámetro seen no existe: ¿quiso decir agent?'],
  [{ ...PLAIN, agent: '' }, 'El parámetro agent necesita el parámetro search'],
]
for (const [fields, message] of REFUSED) {
  test(`refused: ${JSON.stringify(fields)}`, async () => {
    const { status, body } = await createRule(fields)
    assert.deepEqual([status, Object(body).msg], [400, message])
    assert.deepEqual(await rules(), [])
  })
}

test('filters that look at the time, other records or members are refused by name', async () => {
  for (const name of NOT_IN_RULES) {
    const { status, body } = await createRule({ ...PLAIN, digits: 1, [name]: 1 })
    assert.equal(status, 400, name)
    assert.ok(String(Object(body).msg).startsWith(`El parámetro ${name} no existe`), Object(body).msg)
  }
  assert.deepEqual(await rules(), [])
})

test('an unknown rule is a 404, and the group has at most 200', async () => {
  for (const reply of [await edit('nadie', { paused: 1 }), await remove('nadie')])
    assert.deepEqual([reply.status, Object(reply.body).msg], [404, 'La regla no existe'])
  const values = Array.from({ length: 198 }, (_, i) => `('r${i}', 1, 'r', 'hide', '{"search":"q${i}q"}', 1)`)
  await service.sql(
    `INSERT INTO rules (id, account_id, name, action, filters, created_at) VALUES ${values.join(', ')}`,
  )
  const made = await Promise.all([1, 2, 3, 4].map((i) => createRule({ ...PLAIN, search: `q${i}` })))
  const refused = made.filter(({ status }) => status !== 200)
  assert.deepEqual(
    refused.map(({ status, body }) => [status, Object(body).msg]),
    Array(2).fill([409, 'El grupo ya tiene 200 reglas']),
  )
  await service.sql('DELETE FROM rules')
})

const found = (filters: Fields) =>
  names(service, { ...filters, search: 'oculta', order: 'name', sort: 'asc' })
const counted = async (filters: Fields) => {
  const { body } = await call(service, '/api/v1/domainwatch/stats', {
    query: { ...query, ...filters, search: 'oculta' },
  })
  return Object(body).totals.records
}

test('lists, exports, statistics, the queue and bulk changes follow each change of the rules', async () => {
  await stored(service, [
    record('oculta1', { status: 0 }),
    record('oculta2', { status: 0 }),
    record('oculta-a', { status: 0 }),
    record('oculta', { status: 0 }),
  ])
  const expectHidden = async (...hidden: readonly string[]) => {
    const shown = ['oculta', 'oculta-a', 'oculta1', 'oculta2'].filter((name) => !hidden.includes(name))
    assert.deepEqual(await found({ hidden: 1 }), hidden)
    assert.deepEqual(await found({ hidden: 0 }), shown)
    assert.deepEqual(await found({}), ['oculta', 'oculta-a', 'oculta1', 'oculta2'])
    assert.deepEqual(
      [await counted({ hidden: 1 }), await counted({ hidden: 0 })],
      [hidden.length, shown.length],
    )
    const claimed = async (fields: Fields) =>
      (await claim(service, service.domainKey, { search: 'oculta', ...fields })).names.toSorted()
    assert.deepEqual(await claimed({}), shown.toSorted())
    await release(service, service.domainKey)
    assert.deepEqual(await claimed({ hidden: 1 }), hidden.toSorted())
    await release(service, service.domainKey)
    const exported = await exportedNames(service, { search: 'oculta', hidden: 0 })
    assert.deepEqual(exported.toSorted(), shown.toSorted())
  }
  await expectHidden()
  const digits = await rule({ digits: 1, tag: 'x' })
  await expectHidden()
  await edit(digits, { digits: 1 })
  await expectHidden('oculta1', 'oculta2')
  const tagged = await rule({ tag: 'fuera' })
  await update(service, [{ domain: 'oculta-a', tags: ['fuera'] }])
  await expectHidden('oculta-a', 'oculta1', 'oculta2')
  await edit(digits, { paused: 1 })
  await expectHidden('oculta-a')
  await update(service, [{ domain: 'oculta-a', tags: [] }])
  await expectHidden()
  await edit(digits, { paused: 0 })
  await remove(tagged)
  const set = { add_tags: ['visible'] }
  const job = await send(service, BULK, { search: 'oculta', hidden: 0, set }, { encoding: 'json', query })
  await ended(service, BULK, acceptedId(job))
  assert.deepEqual(await found({ tag: 'visible' }), ['oculta', 'oculta-a'])
  await remove(digits)
  await expectHidden()
})

test('a second process and a restarted one apply the same rules', async () => {
  await stored(service, [record('doble1'), record('doble')])
  const second = await startService({ data: service.data })
  try {
    const search = { search: 'doble', hidden: 0 }
    assert.deepEqual(await names(second, search), ['doble1', 'doble'])
    await rule({ digits: 1 })
    assert.deepEqual(await names(second, search), ['doble'])
    idIn(await createRule({ ...PLAIN, ends: 'doble' }, second))
    assert.deepEqual(await names(service, search), [])
  } finally {
    await second.stop()
  }
  const third = await startService({ data: service.data })
  assert.deepEqual(await names(third, { search: 'doble', hidden: 1 }), ['doble1', 'doble'])
  await third.stop()
})

test('hidden records are in no message, unless the watch asks for them', async () => {
  using receiver = await WebhookReceiver.start()
  using asking = await WebhookReceiver.start()
  await rule({ digits: 1 })
  await rule({ tag: 'fuera' })
  await using shown = await EventReader.open(service, { api: service.domainKey, hidden: '0' })
  await watch(service, { search: 'aviso', changes: 'all', url: receiver.url })
  await watch(service, { search: 'aviso', hidden: 1, url: asking.url })
  await stored(service, [record('aviso1'), record('aviso')])
  await update(service, [{ domain: 'aviso', tags: ['fuera'] }])
  await update(service, [{ domain: 'aviso', tags: [] }])
  await update(service, [{ domain: 'aviso1', note: 'nada' }])
  await stored(service, [record('avisofinal')])
  const told = async (at: WebhookReceiver, last: string) => {
    while (!at.changes.includes(last)) await at.until(at.received.length + 1)
    return at.changes
  }
  assert.deepEqual(await told(receiver, 'added avisofinal'), [
    'added aviso',
    'changed aviso',
    'added avisofinal',
  ])
  assert.deepEqual(await told(asking, 'changed aviso'), ['added aviso1', 'changed aviso'])
  const events = await shown.take(4)
  assert.deepEqual(
    events.map(({ event, data }) => `${event} ${Object(Object(data).record).name}`),
    ['added aviso', 'changed aviso', 'changed aviso', 'added avisofinal'],
  )
})

test('a preview counts matches, those of the last 30 days and those in review', async () => {
  const long = '2020-01-01 00:00:00'
  await stored(service, [
    record('previa1', { date_reg: long }),
    record('previa2', { status: 0, date_reg: long }),
    record('previa3', { status: 0, date_reg: localDateTime(Date.now() - 86_400_000, 'America/Santiago') }),
    record('previa'),
  ])
  await update(service, [{ domain: 'previa2', revision: 1 }])
  // Recorded 31 days ago.
  await service.sql('UPDATE changes SET at = at - 2678400000')
  await stored(service, [record('previa4', { date_reg: long })])
  const preview = async (fields: Fields) => (await send(service, `${RULES}/preview`, fields, { query })).body
  const { sample, ...counts } = Object(await preview({ search: 'previa', digits: 1 }))
  assert.deepEqual(counts, { status: 200, matches: 4, last_30_days: 2, in_review: 1 })
  assert.deepEqual(
    sample.map(({ name }: { name: string }) => name),
    ['previa3', 'previa4', 'previa2', 'previa1'],
  )
  assert.equal(Object(await preview({ action: 'tag', tag: 'x', search: 'previa' })).matches, 5)
  assert.equal(Object(await preview({ tag: 'x', search: 'previa' })).matches, 0)
  assert.equal(Object(await preview({ action: 'tag', tag: 'x' })).status, 400)
  assert.deepEqual(await rules(), [])
})

test('records are tagged when they are recorded or change status, by any way', async () => {
  await stored(service, [record('vieja-casa', { status: 0 })])
  const casas = await rule({ action: 'tag', tag: 'casas', search: 'casa' })
  await rule({ action: 'tag', tag: 'libres', search: 'casa', status: 0 })
  await using events = await EventReader.open(service, { api: service.domainKey, search: 'casa' })
  assert.deepEqual(await toTags('vieja-casa'), [])
  await stored(service, [record('casa-nueva'), record('otra')])
  assert.deepEqual(await toTags('casa-nueva'), ['casas'])
  assert.deepEqual(await toTags('otra'), [])
  await update(service, [{ domain: 'casa-nueva', status: 0, tags: ['mía'] }])
  assert.deepEqual(await toTags('casa-nueva'), ['mía', 'casas', 'libres'])
  // The tags are part of the change that they follow from.
  const told = await events.take(2)
  assert.deepEqual(
    told.map(({ event, data }) => [event, Object(Object(data).record).tags]),
    [
      ['added', ['casas']],
      ['changed', ['mía', 'casas', 'libres']],
    ],
  )
  await update(service, [{ domain: 'casa-nueva', tags: [], note: 'sin etiquetas' }])
  assert.deepEqual(await toTags('casa-nueva'), [])
  await ended(
    service,
    IMPORTS,
    acceptedId(await upload(service, 'casa-baja.cl\ncasa-nueva.cl\n', { format: 'deletions' })),
  )
  assert.deepEqual(await toTags('casa-baja'), ['casas', 'libres'])
  await remove(casas)
  assert.deepEqual(await toTags('casa-baja'), ['casas', 'libres'])
  await stored(service, [record('casa-baja', { date_reg: '2026-11-01 00:00:00' })])
  assert.deepEqual(await toTags('casa-baja'), ['casas', 'libres'])
  await stored(service, [record('casa-sin')])
  assert.deepEqual(await toTags('casa-sin'), [])
})

test('a record keeps at most ten tags, and batches of any size are tagged', async () => {
  await Promise.all(
    Array.from({ length: 12 }, (_, i) => rule({ action: 'tag', tag: `t${i}`, starts: 'lote' })),
  )
  await stored(
    service,
    Array.from({ length: 2_500 }, (_, i) => record(`lote${i}`)),
  )
  assert.equal(Object(await toTags('lote2499')).length, 10)
  const { body } = await call(service, '/api/v1/domainwatch/stats', {
    query: { ...query, starts: 'lote', tags: 20 },
  })
  assert.equal(
    Object(body).tags.count.reduce((sum: number, count: number) => sum + count, 0),
    25_000,
  )
})
