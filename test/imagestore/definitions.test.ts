/** Presets and watermarks that administrators define while the service runs. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { temporaryFolder } from '../support/folder.ts'
import { call, send, type Fields } from '../support/http.ts'
import { bytesOf, expectedHash, solid } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const mark = await solid(40, 20, '#ff0000').png().toBuffer()
const photo = await solid(200, 100, '#0000ff').png().toBuffer()
const [image, hash] = [expectedHash(mark), expectedHash(photo)]

const folder = await temporaryFolder()
after(() => folder[Symbol.asyncDispose]())
const file = join(folder.path, 'images.json')
await writeFile(file, JSON.stringify({ presets: { ficha: 'w_100' }, watermarks: { sello: { image } } }))
const { service, client } = await startImages({ flags: { 'image-settings': file } })
const admin = await service.newKey('dueña', 'admin')
for (const bytes of [mark, photo]) await client.upload(bytes)

async function define(path: 'presets' | 'watermarks', fields: Fields) {
  const reply = await send(service, `/api/v1/admin/${path}`, fields, { query: { api: admin.key } })
  if (reply.status === 200) await service.caughtUp()
  return reply
}
const list = async (path: 'presets' | 'watermarks') =>
  (await call(service, `/api/v1/admin/${path}`, { query: { api: admin.key } })).body

async function sizeOf(modifiers: string) {
  const response = await client.link(`${hash}&m=${modifiers}`)
  if (response.status !== 200) return Object(await response.json()).msg
  const { width, height } = await sharp(await bytesOf(response)).metadata()
  return [width, height, response.headers.get('cache-control')]
}

async function toColour(modifiers: string, left: number, top: number) {
  const response = await client.link(`${hash}&m=${modifiers}`)
  if (response.status !== 200) return Object(await response.json()).msg
  const part = sharp(await bytesOf(response)).extract({ left, top, width: 1, height: 1 })
  return (await part.removeAlpha().raw().toBuffer()).toString('hex')
}

test('links use a preset as soon as it is defined, its new meaning, and no longer after it is removed', async () => {
  const unknown = 'El modificador portada no existe'
  assert.equal(await sizeOf('portada'), unknown)
  for (const [modifiers, size] of [
    ['w_50', [50, 25]],
    ['w_30,h_30,c_fill', [30, 30]],
  ] as const) {
    const { body } = await define('presets', { name: 'portada', modifiers })
    assert.deepEqual(body, { status: 200, name: 'portada', modifiers })
    // The second answer comes from memory.
    for (let times = 0; times < 2; times++)
      assert.deepEqual(await sizeOf('portada'), [...size, 'public, max-age=86400'])
    assert.deepEqual(await list('presets'), { status: 200, count: 1, data: [{ name: 'portada', modifiers }] })
  }
  const { body } = await define('presets', { name: 'portada', modifiers: '' })
  assert.deepEqual(body, { status: 200, name: 'portada', modifiers: null })
  assert.equal(await sizeOf('portada'), unknown)
  assert.deepEqual(await list('presets'), { status: 200, count: 0, data: [] })
})

test('a watermark lies where it was last defined, also within a preset', async () => {
  const absent = 'El modificador wm_logo no es válido: el nombre de una marca de agua que exista'
  assert.equal(await toColour('wm_logo,f_png', 150, 70), absent)
  await define('watermarks', { name: 'logo', image, width: 20, margin: 5 })
  assert.equal(await toColour('wm_logo,f_png', 150, 70), 'ff0000')
  assert.equal((await define('presets', { name: 'marcada', modifiers: 'wm_logo,f_png' })).status, 200)
  assert.equal(await toColour('marcada', 150, 70), 'ff0000')
  const { body } = await define('watermarks', { name: 'logo', image, at: 'nw', width: 20, margin: 5 })
  assert.deepEqual(body, { status: 200, name: 'logo', image })
  for (const modifiers of ['wm_logo,f_png', 'marcada']) {
    assert.equal(await toColour(modifiers, 150, 70), '0000ff')
    assert.equal(await toColour(modifiers, 12, 12), 'ff0000')
  }
  const placed = { name: 'logo', image, at: 'nw', width: 20, margin: 5, opacity: 100 }
  assert.deepEqual(await list('watermarks'), { status: 200, count: 1, data: [placed] })
  await define('watermarks', { name: 'logo', image: '' })
  // Unlike a preset, it is never written without `wm_`.
  await define('watermarks', { name: 'gray', image, at: 'nw', width: 20, margin: 5 })
  assert.equal(await toColour('wm_gray,f_png', 12, 12), 'ff0000')
  await define('watermarks', { name: 'gray', image: '' })
  assert.equal(await toColour('wm_logo,f_png', 12, 12), absent)
  assert.equal(
    await toColour('marcada', 12, 12),
    'El modificador wm_logo no es válido: su imagen no es de la misma aplicación',
  )
})

test('a definition that is not valid is refused, and stores nothing', async () => {
  const cases: [path: 'presets' | 'watermarks', fields: Fields, status: number, code: string][] = [
    ['presets', { name: 'thumb', modifiers: 'w_1' }, 400, 'bad_parameter'],
    ['presets', { name: 'gray', modifiers: 'w_1' }, 400, 'bad_parameter'],
    ['presets', { name: 'Portada', modifiers: 'w_1' }, 400, 'bad_parameter'],
    ['presets', { modifiers: 'w_1' }, 400, 'missing_parameter'],
    ['presets', { name: 'a' }, 400, 'missing_parameter'],
    ['presets', { name: 'a', modifiers: 'zoom_2' }, 400, 'modifier_invalid'],
    ['presets', { name: 'a', modifiers: 'ficha' }, 400, 'modifier_invalid'],
    ['presets', { name: 'a', modifiers: 'wm_nada' }, 400, 'modifier_invalid'],
    ['presets', { name: 'a', modifiers: 'w_1,exp_4000000000' }, 400, 'modifier_invalid'],
    ['presets', { name: 'ficha', modifiers: 'w_1' }, 409, 'defined_by_file'],
    ['watermarks', { name: 'a', image: 'x' }, 400, 'bad_parameter'],
    ['watermarks', { name: 'a', image, width: 0 }, 400, 'bad_parameter'],
    ['watermarks', { name: 'a', image, at: 'up' }, 400, 'bad_parameter'],
    ['watermarks', { name: 'sello', image: '' }, 409, 'defined_by_file'],
  ]
  const before = [await list('presets'), await list('watermarks')]
  for (const [path, fields, status, code] of cases) {
    const answer = await define(path, fields)
    assert.deepEqual([answer.status, answer.code], [status, code], JSON.stringify(fields))
  }
  assert.deepEqual([await list('presets'), await list('watermarks')], before)
  const { status } = await call(service, '/api/v1/admin/presets', { query: { api: service.imageKey } })
  assert.equal(status, 403)
})

test('there are at most 1,000 of each, and those there are can still change', async () => {
  await service.sql('DELETE FROM image_definitions')
  const names = Array.from({ length: 1_000 }, (_, i) => `('preset', 'n${i}', 'w_1')`)
  await service.sql(`INSERT INTO image_definitions (kind, name, value) VALUES ${names.join()}`)
  const { body } = await define('presets', { name: 'otra', modifiers: 'w_2' })
  assert.deepEqual(body, { status: 409, msg: 'Ya hay 1000 definiciones' })
  assert.equal((await define('presets', { name: 'n7', modifiers: 'w_2' })).status, 200)
  assert.deepEqual((await sizeOf('n7')).slice(0, 2), [2, 1])
  await service.sql("DELETE FROM image_definitions WHERE name LIKE 'n%'")
})

test('who defined what is in the audit', async () => {
  await define('presets', { name: 'anotada', modifiers: 'w_7' })
  await define('presets', { name: 'anotada', modifiers: '' })
  const { body } = await call(service, '/api/v1/admin/audit', { query: { api: admin.key } })
  const entries = (Object(body).data as Fields[]).slice(0, 2)
  assert.deepEqual(
    entries.map(({ action, subject }) => [action, subject]),
    [
      ['preset.set', 'anotada'],
      ['preset.set', 'anotada w_7'],
    ],
  )
})
