import assert from 'node:assert/strict'
import { request, type OutgoingHttpHeaders } from 'node:http'
import { after, test } from 'node:test'
import { LIST } from '../support/domains.ts'
import { splitCode } from '../support/error-codes.ts'
import { call } from '../support/http.ts'
import { EXPIRED } from '../support/key-limits.ts'
import { ManualClock, startService } from '../support/service.ts'

const HOUR = 3_600_000
const SESSION = '/console/session'
const clock = new ManualClock('2026-01-01T00:00:00Z')
const FLAGS = {
  'auth-header': 'X-Remote-User',
  'auth-admins': 'dueña, nadie',
  'trusted-proxies': '127.0.0.1',
}
const service = await startService({ clock, flags: FLAGS })
after(() => service[Symbol.asyncDispose]())
for (const name of ['dueña', 'otra']) await service.newKey(name, 'admin')

/** Proxies send the bytes of UTF-8. */
const named = (name: string) => Buffer.from(name).toString('latin1')
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }

const open = (
  headers: OutgoingHttpHeaders,
  { url, method = 'POST' }: { url?: string; method?: string } = {},
) =>
  new Promise<{ status: number | undefined; headers: object; body: unknown; code: string | undefined }>(
    (resolve, reject) => {
      const asked = request(`${url ?? service.url}${SESSION}`, { method, headers }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () => {
          const parsed: unknown = text === '' ? undefined : JSON.parse(text)
          const answer = splitCode(parsed, { method, path: SESSION })
          resolve({ status: response.statusCode, headers: response.headers, ...answer })
        })
      })
      asked.on('error', reject).end()
    },
  )
const signIn = (name: string) => open({ ...SAME_ORIGIN, 'x-remote-user': named(name) })

test('opens a session of 12 hours for the account that the proxy names, and removes its key afterwards', async () => {
  const { status, headers, body } = await signIn('grupo')
  const { key } = Object(body)
  const expires = (clock.now() + 12 * HOUR) / 1_000
  assert.deepEqual(body, { status: 200, key, account: 'grupo', service: 'domainwatch', expires })
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(headers, { 'cache-control': 'no-store' })
  assert.equal('access-control-allow-origin' in headers, false)
  const list = async () => (await call(service, LIST, { query: { api: key } })).body
  assert.partialDeepStrictEqual(await list(), { status: 200 })

  const { accounts, audit } = service.app.context
  const [entry] = await audit.page(1)
  const id = entry?.key_id ?? ''
  assert.match(id, /^session-[a-z0-9]{10}$/)
  assert.partialDeepStrictEqual(entry, {
    actor: 'grupo',
    action: 'session.open',
    subject: `grupo (domainwatch), key ${id}`,
  })

  // A page that is loaded again signs in again.
  const signIns = async () =>
    (await audit.page(10, undefined, 'grupo')).filter(({ action }) => action === 'session.open').length
  clock.advance(11 * HOUR)
  assert.equal((await signIn('grupo')).status, 200)
  assert.equal(await signIns(), 1)
  clock.advance(HOUR)
  assert.deepEqual(await list(), EXPIRED)
  const isKept = async () => {
    await accounts.sweepKeys()
    return (await accounts.keys()).some((one) => one.id === id)
  }
  assert.equal(await isKept(), true)
  clock.advance(1)
  assert.equal(await isKept(), false)
  const left = await accounts.keys()
  assert.equal(left.filter(({ account }) => account === 'grupo').length, 2)
  assert.equal((await signIn('grupo')).status, 200)
  assert.equal(await signIns(), 2)
})

test('signs in administrators that --auth-admins names, and no unknown account', async () => {
  assert.partialDeepStrictEqual((await signIn('dueña')).body, { account: 'dueña', service: 'admin' })
  for (const name of ['otra', 'nadie', 'desconocida']) {
    assert.deepEqual(await signIn(name).then(({ status, code, body }) => ({ status, code, body })), {
      status: 403,
      code: 'account_not_allowed',
      body: { status: 403, msg: `La cuenta ${name} no puede entrar a la consola` },
    })
  }
  assert.equal((await service.app.context.accounts.find('desconocida'))?.name, undefined)
})

test('accepts the header exactly once, from the console alone', async () => {
  const user = { 'x-remote-user': 'grupo' }
  const code = async (headers: OutgoingHttpHeaders) => (await open(headers)).code
  assert.equal(await code(SAME_ORIGIN), 'bad_header')
  assert.equal(await code({ ...SAME_ORIGIN, 'x-remote-user': ' ' }), 'bad_header')
  assert.equal(await code({ ...SAME_ORIGIN, 'x-remote-user': ['grupo', 'grupo'] }), 'bad_header')
  for (const site of ['cross-site', 'same-site', 'none'])
    assert.equal(await code({ ...user, 'sec-fetch-site': site }), 'sign_in_refused')
  assert.equal(await code(user), 'sign_in_refused')
  assert.equal((await call(service, LIST, { headers: { ...SAME_ORIGIN, ...user } })).code, 'key_missing')
  const preflight = await open(
    { origin: 'https://otro.cl', 'access-control-request-method': 'POST' },
    { method: 'OPTIONS' },
  )
  assert.equal('access-control-allow-origin' in preflight.headers, false)
})

test('accepts it from trusted proxies only, and not at all without the setting', async () => {
  const headers = { ...SAME_ORIGIN, 'x-remote-user': 'grupo', 'x-forwarded-for': '192.0.2.1' }
  await using elsewhere = await startService({
    flags: { 'auth-header': 'x-remote-user', 'trusted-proxies': '192.0.2.1' },
  })
  assert.equal((await open(headers, elsewhere)).code, 'sign_in_refused')
  await using without = await startService({ flags: { 'trusted-proxies': '127.0.0.1' } })
  assert.equal((await open(headers, without)).code, 'method_not_allowed')
})
