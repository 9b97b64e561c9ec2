import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { list, record, stored, update, walk, wholeRecords } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call, send, type Fields } from '../support/http.ts'
import { imported } from '../support/jobs.ts'
import { getSegment } from '../support/segments.ts'
import { startService } from '../support/service.ts'
import { watch, getWatches } from '../support/watches.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const service = await startService({ flags: { 'webhook-networks': '127.0.0.0/8' } })
after(() => service[Symbol.asyncDispose]())
const api = service.domainKey

const load = (lines: readonly string[], fields: Fields = {}) =>
  imported(service, lines.map((line) => `${line}\n`).join(''), { format: 'numbers', ...fields })
const names = async (query: Fields) =>
  (await list(service, { order: 'name', sort: 'asc', ...query })).data[0].map(({ name }) => name)
const numbersOf = async (search: string) =>
  (await wholeRecords(service, { search, fields: 'numbers' })).map(({ name, numbers }) => [name, numbers])

test('the index takes at most 8 bytes for a name and key, whatever names have numbers', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `n${i}`)
  const size = (share: number) =>
    getSegment(
      names.map((name, i) => ({
        name,
        numbers: i % 100 < share * 100 ? `enlaces=${i / 7} volumen=${-i}` : null,
      })),
    )
  const without = size(0).bytes
  for (const [share, most] of [
    [1, 16],
    [0.97, 16],
    [0.1, 2.2],
  ] as const) {
    const segment = size(share)
    assert.ok(segment.bytes - without <= most * names.length + 100, `${share}: ${segment.bytes - without}`)
    const found = Array.from(names, (_, position) => segment.importedNumber('volumen', position))
    assert.equal(found.filter((number) => !Number.isNaN(number)).length, share * names.length)
  }
})

test('of names recorded before and after are filtered by bounds', async () => {
  await stored(service, [record('uno'), record('dos'), record('ñandú'), record('sin')])
  const done = await load([
    'name,key,number',
    'uno.cl,volumen,120.5',
    'DOS,Volumen,-3',
    'xn--and-6ma2c.cl,volumen,120.5',
    'uno,enlaces,0',
    'despues,volumen,7',
  ])
  assert.partialDeepStrictEqual(done, { state: 'done', lines: 5, new: 5, changed: 0, refused: 0 })
  assert.deepEqual(await names({ num_volumen_min: '120.5' }), ['uno', 'ñandú'])
  await stored(service, [record('despues')])
  assert.deepEqual(await names({ num_volumen_min: '-3', num_volumen_max: '7' }), ['despues', 'dos'])
  assert.deepEqual(await names({ num_volumen_max: '1000', num_enlaces_min: '0' }), ['uno'])
  assert.deepEqual(await names({ num_otra_min: '0' }), [])
  assert.deepEqual(await numbersOf('o'), [
    ['uno', { enlaces: 0, volumen: 120.5 }],
    ['dos', { volumen: -3 }],
  ])
  assert.deepEqual(await numbersOf('sin'), [['sin', {}]])
})

test('sort lists, pages and exports, names without one last', async () => {
  await load(['orden-a,rango,10', 'orden-b,rango,9.5', 'orden-c,rango,-1', 'orden-e,rango,10'])
  const recorded = ['orden-a', 'orden-b', 'orden-c', 'orden-d', 'orden-e', 'orden-f']
  await stored(
    service,
    recorded.map((name, i) => record(name, { date_reg: `2025-01-0${i + 1} 00:00:00` })),
  )
  for (const [sort, wanted] of [
    ['desc', ['orden-e', 'orden-a', 'orden-b', 'orden-c', 'orden-f', 'orden-d']],
    ['asc', ['orden-c', 'orden-b', 'orden-a', 'orden-e', 'orden-d', 'orden-f']],
  ] as const) {
    const query = { starts: 'orden-', order: 'num_rango', sort }
    assert.deepEqual(await names(query), wanted)
    for (const limit of [1, 4])
      assert.deepEqual(
        (await walk(service, { ...query, limit })).map(({ name }) => name),
        wanted,
      )
    const { text } = await call(service, '/api/v1/domainwatch/export', {
      query: { api, ...query, format: 'csv', fields: 'numbers' },
    })
    const lines = text.trimEnd().split('\r\n').slice(1)
    assert.deepEqual(
      lines.map((line) => line.split(',')[0]),
      wanted,
    )
    assert.match(lines[0] ?? '', sort === 'asc' ? /,rango=-1$/ : /,rango=10$/)
    const claimed = await send(service, '/api/v1/domainwatch/queue', query, { query: { api } })
    assert.deepEqual(
      Object(claimed.body).data[0].map(({ name }: { name: string }) => name),
      wanted,
    )
  }
})

test('replace the number of their key alone, and the same ones again change nothing', async () => {
  const lines = ['uno,volumen,5', 'dos,enlaces,2', 'dos,volumen,-3']
  const preview = await load(lines, { dry_run: '1' })
  const counts = { lines: 3, new: 1, changed: 1, unchanged: 1 }
  assert.partialDeepStrictEqual(preview, counts)
  assert.deepEqual(await names({ num_volumen_max: '5', num_volumen_min: '5' }), [])
  assert.partialDeepStrictEqual(await load(lines), counts)
  assert.partialDeepStrictEqual(await load(lines), { new: 0, changed: 0, unchanged: 3 })
  assert.deepEqual(await names({ num_volumen_max: '5', num_volumen_min: '5' }), ['uno'])
  // Of several lines of a name and key, the last one counts.
  await load(['tres,volumen,1', 'tres,volumen,2'])
  await stored(service, [record('tres')])
  assert.deepEqual(await numbersOf('tres'), [['tres', { volumen: 2 }]])
})

test('survive that their record is marked, changes and is stored again', async () => {
  await update(service, [{ domain: 'uno', revision: 1, note: 'sí' }])
  await stored(service, [record('uno', { status: 0 })])
  assert.deepEqual(await names({ num_volumen_min: '5', revision: '1' }), ['uno'])
  assert.deepEqual(await numbersOf('uno'), [['uno', { enlaces: 0, volumen: 5 }]])
})

test('bad lines are refused with their number and the reason', async () => {
  const done = await load([
    'uno,volumen,1e3',
    'uno,volumen,NaN',
    'uno,volumen,-',
    'uno,dos palabras,1',
    `uno,${'a'.repeat(21)},1`,
    '-uno,volumen,1',
    'uno,volumen',
    'uno,"volumen,1',
    'uno,volumen,+12',
  ])
  assert.partialDeepStrictEqual(done, { state: 'done', new: 0, changed: 1, refused: 8 })
  const decimal = 'El campo number debe ser un número decimal, como -12 o 3.5'
  const key = 'El campo key debe tener de 1 a 20 letras de la a a la z'
  const faults = Object(done)['errors'].map(({ line, msg }: { line: number; msg: string }) => [line, msg])
  assert.deepEqual(faults.slice(0, 5), [
    [1, decimal],
    [2, decimal],
    [3, decimal],
    [4, key],
    [5, key],
  ])
  assert.deepEqual(faults.slice(6), [
    [7, decimal],
    [8, 'La línea no es CSV válido'],
  ])
  for (const [name, value] of [
    ['num_volumen_min', 'x'],
    ['num_volumen_max', '1e9'],
  ] as const) {
    const { status, text } = await call(service, '/api/v1/domainwatch/list', {
      query: { api, [name]: value },
    })
    assert.equal(status, 400)
    assert.equal(JSON.parse(text).parameter, name)
  }
  const { status, text } = await send(
    service,
    '/api/v1/domainwatch/rules',
    { name: 'x', action: 'hide', num_Volumen_min: '1' },
    { query: { api } },
  )
  assert.equal(status, 400)
  assert.equal(JSON.parse(text).parameter, 'num_Volumen_min')
})

test('a rule and a watch take them, and a watch keeps them', async () => {
  using receiver = await WebhookReceiver.start()
  await load(['alto,volumen,900', 'bajo,volumen,1'])
  const rule = { name: 'pocos', action: 'hide', num_volumen_max: 10 }
  const made = await send(service, '/api/v1/domainwatch/rules', rule, { query: { api }, encoding: 'json' })
  assert.equal(made.status, 200, made.text)
  await watch(service, { search: 'alt', num_volumen_min: 500, url: receiver.url })
  await watch(service, { num_volumen_min: 0, num_volumen_max: 500, hidden: 1, url: receiver.url })
  assert.deepEqual((await getWatches(service))[0]?.['filters'], { search: 'alt', num_volumen_min: '500' })
  await stored(service, [record('alto'), record('altos'), record('bajo')])
  assert.deepEqual((await receiver.untilChanges(2)).toSorted(), ['added alto', 'added bajo'])
  assert.deepEqual(await names({ hidden: '1', num_volumen_max: '1' }), ['bajo', 'dos'])
  await load(['bajo,volumen,11'])
  await eventually(async () => (await names({ hidden: '1', search: 'bajo' })).length === 0)
})

test('an empty one removes the number, also of names without a record', async () => {
  await load(['quitar,volumen,5', 'quitar,enlaces,6', 'quitar-todo,volumen,7', 'sin-registro,volumen,8'])
  await stored(service, [record('quitar'), record('quitar-todo')])
  const lines = [
    'quitar,volumen,',
    'QUITAR-TODO.cl,Volumen, ',
    'sin-registro,volumen,',
    'sin-registro,nueva,',
  ]
  const counts = { state: 'done', new: 0, changed: 3, unchanged: 1, refused: 0 }
  assert.partialDeepStrictEqual(await load(lines, { dry_run: '1' }), counts)
  assert.deepEqual(await numbersOf('quitar'), [
    ['quitar-todo', { volumen: 7 }],
    ['quitar', { enlaces: 6, volumen: 5 }],
  ])
  assert.partialDeepStrictEqual(await load(lines), counts)
  assert.partialDeepStrictEqual(await load(lines), { changed: 0, unchanged: 4 })
  await stored(service, [record('sin-registro')])
  assert.deepEqual(await numbersOf('quitar'), [
    ['quitar-todo', {}],
    ['quitar', { enlaces: 6 }],
  ])
  assert.deepEqual(await numbersOf('sin-registro'), [['sin-registro', {}]])
})

test('there are at most 20 keys', async () => {
  const keys = Array.from({ length: 18 }, (_, i) => `clave${String.fromCodePoint(97 + i)}`)
  const done = await load(keys.map((key) => `uno,${key},1`))
  assert.partialDeepStrictEqual(done, {
    new: 17,
    refused: 1,
    errors: [{ line: 18, msg: 'El campo key no es una de las 20 claves que ya hay' }],
  })
  assert.partialDeepStrictEqual(await load(['uno,claveq,2', 'uno,clavet,2']), { changed: 1, refused: 1 })
  // A key that no name has any more makes room for another.
  await load(['uno,claveq,'])
  assert.partialDeepStrictEqual(await load(['uno,clavet,2', 'uno,claveu,2']), { new: 1, refused: 1 })
})
