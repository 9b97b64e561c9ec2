/** Views that accounts save, and share with the group. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { call, send, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'

const VIEWS = '/api/v1/domainwatch/views'
const service = await startService()
after(() => service[Symbol.asyncDispose]())
const ana = (await service.newKey('Ana', 'domainwatch')).key
const own = service.domainKey

const post = async (fields: Fields, api = own) => {
  const { status, body, code } = await send(service, VIEWS, fields, { query: { api } })
  return { status, code, ...Object(body) }
}
const save = async (fields: Fields, api = own): Promise<string> => {
  const { status, id } = await post(fields, api)
  assert.equal(status, 200)
  return id
}
const remove = async (id: string, api = own) => {
  const { status, code } = await call(service, VIEWS, { method: 'DELETE', query: { api, id } })
  return [status, code]
}
const list = async (api = own): Promise<readonly unknown[]> =>
  Object((await call(service, VIEWS, { query: { api } })).body).data

test('an account sees its views and those that others share, and changes only its own', async () => {
  const first = await save({ name: ' Casas libres ', filters: '?word=casa&status=0&tag=a b' })
  const second = await save({ name: 'Faros', filters: 'search=faro', shared: 1 }, ana)
  const casas = { id: first, name: 'Casas libres', filters: 'word=casa&status=0&tag=a+b', shared: 0 }
  const faros = { id: second, name: 'Faros', filters: 'search=faro', shared: 1, owner: 'Ana' }
  assert.deepEqual(await list(), [{ ...casas, owner: 'grupo' }, faros])
  assert.deepEqual(await list(ana), [faros])

  const refused = await post({ id: second, name: 'Míos' })
  assert.deepEqual(
    [refused.status, refused.code, refused.msg],
    [403, 'view_owner_only', 'Solo la cuenta dueña puede cambiar o borrar la vista'],
  )
  assert.deepEqual(await remove(second), [403, 'view_owner_only'])
  // A view that is not shared does not exist for others.
  assert.equal((await post({ id: first, name: 'Míos' }, ana)).code, 'view_not_found')
  assert.deepEqual(await remove(first, ana), [404, 'view_not_found'])
  assert.deepEqual(await list(ana), [faros])

  assert.equal(await save({ id: first, shared: 1 }), first)
  assert.equal(await save({ id: second, name: 'Luces', filters: 'search=luz', shared: 0 }, ana), second)
  assert.deepEqual(await list(), [{ ...casas, shared: 1, owner: 'grupo' }])
  assert.deepEqual(await list(ana), [
    { ...casas, shared: 1, owner: 'grupo' },
    { id: second, name: 'Luces', filters: 'search=luz', shared: 0, owner: 'Ana' },
  ])
  assert.deepEqual(await remove(first), [200, undefined])
  assert.deepEqual(await remove(first), [404, 'view_not_found'])
  assert.deepEqual(await list(), [])
})

test('wrong parameters are refused, and named', async () => {
  const refused = async (fields: Fields) => {
    const { status, text } = await send(service, VIEWS, fields, { query: { api: own } })
    const { code, parameter } = Object(JSON.parse(text))
    return [status, code, parameter]
  }
  const view = { name: 'a', filters: 'search=a' }
  assert.deepEqual(await refused({ name: 'a' }), [400, 'missing_parameter', 'filters'])
  assert.deepEqual(await refused({ filters: 'search=a' }), [400, 'missing_parameter', 'name'])
  const wrong = [
    { ...view, name: 'ñ'.repeat(61) },
    { ...view, name: ' ' },
    { ...view, filters: '' },
    { ...view, filters: `search=${'a'.repeat(1_994)}` },
    { ...view, shared: 2 },
  ]
  const found = await Promise.all(wrong.map(refused))
  assert.deepEqual(
    found.map(([status, , parameter]) => [status, parameter]),
    [
      [400, 'name'],
      [400, 'name'],
      [400, 'filters'],
      [400, 'filters'],
      [400, 'shared'],
    ],
  )
  const longest = await save({ name: 'ñ'.repeat(60), filters: `search=${'a'.repeat(1_993)}` })
  // PostgreSQL stores no NUL.
  assert.equal(await save({ id: longest, filters: 'search=\0' }), longest)
  assert.equal(Object((await list())[0]).filters, 'search=%00')
  await remove(longest)
})

test('an account has at most 100 views, also if they are saved at the same time', async () => {
  const replies = await Promise.all(
    Array.from({ length: 102 }, (_, i) => post({ name: `v${i}`, filters: `search=a${i}` })),
  )
  const refused = replies.filter(({ status }) => status !== 200)
  assert.deepEqual(
    refused.map(({ status, code, msg }) => [status, code, msg]),
    Array.from({ length: 2 }, () => [409, 'too_many_views', 'La cuenta ya tiene 100 vistas']),
  )
  assert.equal((await list()).length, 100)
  await save({ name: 'a', filters: 'search=a' }, ana)
})
