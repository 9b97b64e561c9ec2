import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { LIST, record, records, stored, update, wholeRecord, wholeRecords } from '../support/domains.ts'
import { call, nextQuery, type Fields } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-01-15T12:00:00.250Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const { key: anasKey } = await service.newKey('Ana', 'domainwatch')

async function whole(name: string, fields = 'all'): Promise<Fields> {
  const found = await wholeRecords(service, { starts: name, fields })
  return found.find((each) => each['name'] === name) ?? {}
}

const succeeds = async (...marks: readonly Fields[]) =>
  assert.deepEqual((await update(service, marks)).body, { status: 200, count: marks.length })

function localTime(ahead = 0): string {
  return new Date(clock.now() - 3 * 3_600_000 + ahead).toISOString().slice(0, 19).replace('T', ' ')
}

for (const [field, value, shown] of [
  ['seen', 1, { seen: 1, seen_by: 'grupo' }],
  ['note', 'Llamar a José\r\nmañana 🦤', { note: 'Llamar a José\r\nmañana 🦤' }],
  // The last tag is one code point in lower case only.
  ['tags', ['ÑANDÚ', 'b-2', 'ñandú', 'J\u030c'], { tags: ['ñandú', 'b-2', '\u01f0'] }],
] as const) {
  test(`${field} alone changes, with date_mod; repeating it changes nothing`, async () => {
    const name = `dcd-${field}`
    await stored(service, [record(name)])
    const before = await whole(name)
    assert.deepEqual(before, wholeRecord(name, { date_mod: localTime() }))
    clock.advance(1_000)
    await succeeds({ domain: name, [field]: value })
    const now = localTime()
    const seenAt = field === 'seen' ? { seen_at: now } : {}
    const changed = { ...before, ...shown, ...seenAt, date_mod: now }
    assert.deepEqual(await whole(name), changed)
    clock.advance(1_000)
    assert.equal((await update(service, [{ domain: name, [field]: value }], { key: anasKey })).status, 200)
    assert.deepEqual(await whole(name), changed)
    await succeeds({ domain: name, [field]: field === 'seen' ? 0 : field === 'note' ? '' : [] })
    assert.deepEqual(await whole(name), { ...before, date_mod: localTime() })
  })
}

test('a new status makes a record unseen, by add and by update; the rest stays', async () => {
  await stored(service, [record('cambia')])
  const seen = { domain: 'cambia', seen: 1, note: 'n', tags: ['t'] }
  await succeeds(seen)
  await stored(service, [record('cambia', { reserve: 1, date_reg: '2025-12-30 00:00:00' })])
  await succeeds({ domain: 'cambia', revision: 1, status: 1 })
  assert.equal((await whole('cambia'))['seen'], 1)
  await stored(service, [record('cambia', { status: 0 })])
  const { seen: isSeen, seen_at, seen_by, note, tags } = await whole('cambia')
  assert.deepEqual([isSeen, seen_at, seen_by, note, tags], [0, null, null, 'n', ['t']])
  await succeeds(seen)
  await succeeds({ domain: 'cambia', status: 1 })
  assert.equal((await whole('cambia'))['seen'], 0)
  await succeeds(seen)
  // In one call, seen is about the new status: who marks it now has seen it.
  clock.advance(1_000)
  assert.equal(
    (await update(service, [{ domain: 'cambia', status: 0, seen: 1 }], { key: anasKey })).status,
    200,
  )
  const again = await whole('cambia')
  assert.deepEqual([again['seen'], again['seen_by'], again['seen_at']], [1, 'Ana', localTime()])
})

test('of a name repeated in a call the later fields count', async () => {
  await stored(service, [record('doble')])
  const { body } = await update(service, [
    { domain: 'doble', seen: 1, note: 'uno', tags: ['uno'] },
    { domain: 'DOBLE', note: 'dos' },
    { domain: 'doble', seen: 0 },
  ])
  assert.deepEqual(body, { status: 200, count: 1 })
  const { seen, note, tags } = await whole('doble')
  assert.deepEqual([seen, note, tags], [0, 'dos', ['uno']])
})

const NOTE =
  'El campo note debe ser un texto de 1000 caracteres como máximo, sin caracteres de control salvo saltos de línea'
const TAGS = 'El campo tags debe ser un arreglo de 10 textos como máximo, de 1 a 30 letras, dígitos o guiones'
const EXPECT =
  'El campo expect debe ser un objeto con alguno de los campos status, reserved, revision, discarded, seen, date_mod'
const DATE = 'debe ser una fecha y hora real con el formato YYYY-MM-DD HH:MM:SS'

test('hostile values are rejected with their message, and nothing is stored', async () => {
  await stored(service, [record('hostil')])
  const before = await whole('hostil')
  const deep = JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)
  const bad: readonly [Fields, string, string][] = [
    [{ seen: '1' }, 'seen', 'El campo seen debe ser un número (0 o 1), no un texto'],
    [{ seen: 2 }, 'seen', 'El campo seen debe ser 0 o 1'],
    [{ seen: null }, 'seen', 'El campo seen debe ser un número (0 o 1), no null'],
    [{ note: 7 }, 'note', 'El campo note debe ser un texto, no un número'],
    [{ note: null }, 'note', 'El campo note debe ser un texto, no null'],
    [{ note: deep }, 'note', 'El campo note debe ser un texto, no un arreglo'],
    ...['a\0b', 'a\tb', 'a\u001bb', 'a\u0085b', '\ud800', 'ñ'.repeat(1_001), '🦤'.repeat(1_001)].map(
      (note): [Fields, string, string] => [{ note }, 'note', NOTE],
    ),
    ...['a\u202eb', 'a\u2028b', 'a\u200bb', 'a\u2066b', 'a\u200db', '\ufeffa', 'a\u00adb'].map(
      (note): [Fields, string, string] => [{ note }, 'note', `${NOTE} ni caracteres invisibles`],
    ),
    [{ tags: 'casa' }, 'tags', 'El campo tags debe ser un arreglo, no un texto'],
    [{ tags: null }, 'tags', 'El campo tags debe ser un arreglo, no null'],
    [{ tags: { 0: 'casa' } }, 'tags', 'El campo tags debe ser un arreglo, no un objeto'],
    ...[
      Array.from({ length: 11 }, (_, i) => `t${i}`),
      [''],
      ['dos palabras'],
      ['a_b'],
      ['a,b'],
      ['a\u200bb'],
      ['a\u3164b'],
      ['\ud800'],
      ['x'.repeat(31)],
      [7],
      [null],
      deep,
    ].map((tags): [Fields, string, string] => [{ tags }, 'tags', TAGS]),
    [{ expect: 1 }, 'expect', 'El campo expect debe ser un objeto, no un número'],
    [{ expect: [] }, 'expect', 'El campo expect debe ser un objeto, no un arreglo'],
    [{ expect: { reserve: 1 } }, 'expect', EXPECT],
    [JSON.parse('{"expect":{"__proto__":1}}'), 'expect', EXPECT],
    [
      { expect: { seen: '0' } },
      'expect.seen',
      'El campo expect.seen debe ser un número (0 o 1), no un texto',
    ],
    [{ expect: { status: 2 } }, 'expect.status', 'El campo expect.status debe ser 0 o 1'],
    [
      { expect: { date_mod: 7 } },
      'expect.date_mod',
      'El campo expect.date_mod debe ser un texto, no un número',
    ],
    [{ expect: { date_mod: '2025-02-30 00:00:00' } }, 'expect.date_mod', `El campo expect.date_mod ${DATE}`],
  ]
  const { body } = await update(
    service,
    [{ domain: 'hostil', seen: 1 }, ...bad.map(([fields]) => ({ domain: 'hostil', ...fields }))],
    { encoding: 'json' },
  )
  assert.deepEqual(body, {
    status: 500,
    count: 0,
    msg: `Hay ${bad.length} registros con errores`,
    errors: bad.map(([, field, msg], i) => ({ index: i + 1, field, msg })),
  })
  assert.deepEqual(await whole('hostil'), before)
})

test('a note keeps line ends and what emoji and scripts need; the longest note and ten of the longest tags are stored', async () => {
  await stored(service, [record('anotada')])
  const tags = Array.from({ length: 10 }, (_, i) => `${'ñ'.repeat(15)}${'д'.repeat(14)}${i}`)
  for (const note of ['Ñandú:\r\n👩‍🚀 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿\nمی‌خواهم', '🦤'.repeat(999) + '\n']) {
    await succeeds({ domain: 'anotada', note, tags })
    const found = await whole('anotada')
    assert.deepEqual([found['note'], found['tags']], [note, tags])
  }
})

test('each field can be requested alone; unknown ones are rejected', async () => {
  await stored(service, [record('zcampos', { status: 0 })])
  await succeeds({ domain: 'zcampos', discarded: 1 })
  const all = await whole('zcampos')
  const seed = (await records(service, { search: 'zcampos' }))[0]
  const expected = wholeRecord('zcampos', {
    ...seed,
    deleted_at: '2025-12-31 14:30:34',
    deleted_after: '2025-12-31 14:30:34',
    discarded_at: localTime(),
    drops: 1,
    object_until: null,
  })
  assert.deepEqual(all, expected)
  const further = Object.keys(all).slice(Object.keys(seed ?? {}).length)
  for (const field of further)
    assert.deepEqual(await whole('zcampos', field), { ...seed, [field]: expected[field] })
  assert.deepEqual(await whole('zcampos', ' tags , note,tags'), { ...seed, note: '', tags: [] })
  const msg = `El parámetro fields debe ser all o una lista, separada por comas, de ${further.join(', ')}`
  for (const fields of ['', 'otro', 'note,', 'all,note', 'ALL', 'constructor']) {
    const { body } = await call(service, LIST, { query: { api: service.domainKey, fields } })
    assert.deepEqual(body, { status: 400, msg }, fields)
  }
})

test('pages with fields equal those without, in any order and by their links', async () => {
  await stored(
    service,
    Array.from({ length: 25 }, (_, i) => record(`pagina-${i}`, { status: i % 2 })),
  )
  for (const query of [{}, { last_register: 7, last_deleted: 4, sort: 'asc' }]) {
    const all = { ...query, starts: 'pagina-' }
    const found: unknown[] = []
    let next: Fields | undefined = { api: service.domainKey, fields: 'note', limit: '4', ...all }
    while (next !== undefined) {
      const reply = await call(service, LIST, { query: next })
      const { count, query: echoed, data } = Object(reply.body)
      assert.deepEqual([count, echoed], [data[0].length, ''])
      found.push(...data[0])
      next = nextQuery(service, LIST, reply)
    }
    assert.deepEqual(
      found,
      (await records(service, all)).map((each) => ({ ...each, note: '' })),
    )
  }
})
