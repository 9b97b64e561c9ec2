import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { list } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { FEEDS } from '../support/feeds.ts'
import { call, send } from '../support/http.ts'
import { acceptedId, ended, IMPORT, imported, IMPORTS, jobOf, upload } from '../support/jobs.ts'
import { ManualClock, startService } from '../support/service.ts'

const clock = new ManualClock('2026-03-01T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const other = (await service.newKey('vecina', 'domainwatch')).key

/** Each list of a source has to be later than the one before. */
const later = () => clock.advance(60_000)
const names = async (search: string) =>
  (await list(service, { search, order: 'name', sort: 'asc' })).data[0].map(({ name }) => name)

/** An upload whose body has begun and does not end. */
async function begun(key: string) {
  const url = `${service.url}${IMPORT}?${new URLSearchParams({ api: key, format: 'deletions' })}`
  const type = 'multipart/form-data; boundary=x'
  const sending = request(url, { method: 'POST', headers: { 'content-type': type } })
  sending.write('--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nempezada')
  const answered = once(sending, 'response')
  // A refusal may close the connection while the rest of the body is sent.
  sending.on('error', () => {})
  return {
    finish: async () => {
      sending.end('.cl\r\n--x--\r\n')
      const [response] = await answered
      let text = ''
      for await (const chunk of response) text += String(chunk)
      return JSON.parse(text)
    },
    leave: async () => {
      answered.catch(() => {})
      sending.destroy()
    },
  }
}

const openJobs = async (key: string) => {
  const { body } = await call(service, IMPORTS, { query: { api: key } })
  return Object(body).data
}

test('a list of deletions is imported, and the same list again changes nothing', async () => {
  const text = 'baja1.cl\nbaja2.cl\nbaja-3.cl\n'
  const first = await imported(service, text, { format: 'deletions', window: 'week' })
  assert.deepEqual(first, {
    ...first,
    status: 200,
    state: 'done',
    waiting: 0,
    created_at: '2026-03-01 09:00:00',
    ended_at: '2026-03-01 09:00:00',
    seconds_left: null,
    error: null,
    format: 'deletions',
    source: null,
    window: 'week',
    dry_run: 0,
    lines: 3,
    new: 3,
    changed: 0,
    unchanged: 0,
    refused: 0,
    errors: [],
    skipped: null,
    complete: 1,
  })
  assert.deepEqual(await names('baja'), ['baja-3', 'baja1', 'baja2'])
  const { data } = await list(service, { search: 'baja1' })
  assert.partialDeepStrictEqual(data[0][0], { agent: 'grupo', status: 0, date_reg: '2026-03-01 09:00:00' })

  later()
  const again = await imported(service, text, { format: 'deletions', window: 'week' })
  assert.partialDeepStrictEqual(again, {
    state: 'done',
    lines: 3,
    new: 0,
    changed: 0,
    unchanged: 3,
    skipped: 'identical',
  })
  // Another source may list the same.
  later()
  const elsewhere = await imported(service, text, { format: 'deletions', source: 'mi lista' })
  assert.partialDeepStrictEqual(elsewhere, { source: 'mi lista', skipped: null, new: 0, unchanged: 3 })
})

test('a dry run counts what an import changes, and stores nothing', async () => {
  later()
  await imported(service, 'Nombre,Fecha\nensayo1.cl,2026-01-01\nensayo2.cl,2026-01-01\n')
  later()
  const text =
    'Nombre,Fecha\nensayo1.cl,2026-02-01\nensayo2.cl,2026-01-01\nensayo3.cl,2026-02-01\nno..es,2026-02-01\n'
  const counts = { state: 'done', lines: 4, new: 1, changed: 1, unchanged: 1, refused: 1 }
  const dry = await imported(service, text, { dry_run: 1 })
  assert.partialDeepStrictEqual(dry, { ...counts, dry_run: 1 })
  assert.deepEqual(await names('ensayo'), ['ensayo1', 'ensayo2'])
  later()
  const compressed = new Uint8Array(gzipSync(text))
  assert.partialDeepStrictEqual(await imported(service, compressed), {
    ...counts,
    dry_run: 0,
    skipped: null,
  })
  assert.deepEqual(await names('ensayo'), ['ensayo1', 'ensayo2', 'ensayo3'])
})

test('the first 100 refused lines are listed with their number and reason', async () => {
  later()
  const text = `valida.cl\n${'no..vale\n'.repeat(150)}`
  const job = await imported(service, text, { format: 'deletions' })
  const msg = 'El nombre no es un dominio .cl válido'
  assert.deepEqual(
    job['errors'],
    Array.from({ length: 100 }, (_, i) => ({ line: i + 2, msg })),
  )
  assert.partialDeepStrictEqual(job, { state: 'done', lines: 151, new: 1, refused: 150, complete: 0 })
})

test('what is not a list fails with the reason', async () => {
  const reason = async (content: string | Uint8Array<ArrayBuffer>, fields = {}) => {
    later()
    const { state, error, new: added } = await imported(service, content, fields)
    return [state, error, added]
  }
  assert.deepEqual(await reason('<html>'), ['failed', 'Es una página web', 0])
  assert.deepEqual(await reason('a;b;c\n1;2;3\n'), ['failed', 'La lista tiene un formato desconocido', 0])
  assert.deepEqual(await reason('no..vale\n', { format: 'deletions' }), [
    'failed',
    'Ninguna línea de la lista es válida',
    0,
  ])
  const damaged = new Uint8Array(gzipSync('una.cl\n'.repeat(9)).subarray(0, 20))
  assert.deepEqual(await reason(damaged), ['failed', 'El archivo comprimido está dañado', 0])
})

test('an account has one job running and three waiting or arriving, and sees only its own', async () => {
  const { key } = await service.newKey('llena', 'domainwatch')
  const uploads = []
  for (let count = 1; count <= 4; count++) {
    uploads.push(await begun(key))
    await eventually(async () => (await openJobs(key)).length === count, 'it is listed')
  }
  assert.deepEqual(
    (await openJobs(key)).map(({ state }: { state: string }) => state),
    Array(4).fill('receiving'),
  )
  const refused = await upload(service, 'otra.cl\n', {}, key)
  assert.deepEqual(refused.body, { status: 429, msg: 'La cuenta ya tiene 4 trabajos sin terminar' })
  assert.equal(refused.headers.get('retry-after'), '60')
  const [first, ...rest] = uploads
  assert.ok(first !== undefined)
  const { status, id } = await first.finish()
  assert.equal(status, 202)
  assert.partialDeepStrictEqual(await ended(service, IMPORTS, id, key), { state: 'done', new: 1 })
  const none = { status: 404, msg: 'El trabajo no existe' }
  assert.deepEqual((await call(service, IMPORTS, { query: { api: other, id } })).body, none)
  assert.deepEqual((await call(service, IMPORTS, { method: 'DELETE', query: { api: other, id } })).body, none)
  assert.deepEqual(await openJobs(other), [])
  // Those whose senders leave are not listed any more.
  for (const one of rest) await one.leave()
  await eventually(async () => (await openJobs(key)).length === 1, 'only the first is left')
})

test('an import that is stopped while it arrives is refused then', async () => {
  const { key } = await service.newKey('indecisa', 'domainwatch')
  const one = await begun(key)
  await eventually(async () => (await openJobs(key)).length === 1, 'it is listed')
  const [{ id }] = await openJobs(key)
  const stopped = await call(service, IMPORTS, { method: 'DELETE', query: { api: key, id } })
  assert.partialDeepStrictEqual(stopped.body, {
    status: 200,
    id,
    state: 'stopped',
    ended_at: '2026-03-01 09:10:00',
  })
  assert.deepEqual(await one.finish(), {
    status: 409,
    msg: 'El trabajo se detuvo mientras llegaba su archivo',
    code: 'job_stopped',
  })
  assert.equal((await jobOf(service, IMPORTS, id, key)).state, 'stopped')
  assert.deepEqual(await names('empezada'), ['empezada'])
})

test('the key and parameters may be parts, the key before the file', async () => {
  later()
  const form = (...parts: readonly (readonly [string, string | Blob])[]) => {
    const body = new FormData()
    for (const [name, value] of parts) body.append(name, value)
    return call(service, IMPORT, { body })
  }
  const file = ['file', new Blob(['partes.cl\n'])] as const
  const api = ['api', service.domainKey] as const
  const id = acceptedId(await form(api, file, ['format', 'deletions'], ['window', 'day']))
  assert.partialDeepStrictEqual(await ended(service, IMPORTS, id), { state: 'done', window: 'day', new: 1 })
  assert.deepEqual((await form(file, api)).body, { status: 401, msg: 'Falta la clave de API' })
  const refusal = (msg: string) => ({ status: 400, msg })
  assert.deepEqual(
    (await form(api, ['window', 'year'], file)).body,
    refusal('El parámetro window debe ser uno de: hour, day, week, month'),
  )
  assert.deepEqual(
    (await form(api, file, ['windows', 'day'])).body,
    refusal('El parámetro windows no existe: ¿quiso decir window?'),
  )
  assert.deepEqual((await form(api, file, file)).body, refusal('El parámetro file solo puede venir una vez'))
  for (const source of ['', 'feed:altas', ' a', 'a\nb'])
    assert.match(
      (await form(api, ['source', source], file)).text,
      /^."status":400,"parameter":"source"/,
      source,
    )
  const missing = refusal('Falta el parámetro file')
  assert.deepEqual((await form(api)).body, missing)
  for (const encoding of ['urlencoded', 'json'] as const)
    assert.deepEqual((await send(service, IMPORT, { api: service.domainKey }, { encoding })).body, missing)
  assert.equal(
    (await openJobs(service.domainKey)).filter(({ state }: { state: string }) => state === 'receiving')
      .length,
    0,
  )
})

test('a file that is too large, and a body that ends early, are refused, and nothing is left of them', async () => {
  const query = new URLSearchParams({ api: other })
  const head = { 'content-type': 'multipart/form-data; boundary=x' }
  const post = async (body: string, headers: Record<string, string>) => {
    const sending = request(`${service.url}${IMPORT}?${query}`, {
      method: 'POST',
      headers: { ...head, ...headers },
    })
    sending.on('error', () => {})
    if (headers['content-length'] === undefined) sending.end(body)
    else sending.write(body)
    const [response] = await once(sending, 'response')
    sending.destroy()
    return response.statusCode
  }
  assert.equal(await post('--x\r\n', { 'content-length': String(300 * 1024 * 1024) }), 413)
  const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nuna.cl'
  assert.equal(await post(part, {}), 400)
  assert.equal(await post(`${part}\r\n--x`, {}), 400)
  assert.equal(await post('no es multipart', {}), 400)
  assert.deepEqual(await openJobs(other), [])
  const { body: feeds } = await call(service, FEEDS, { query: { api: other } })
  assert.deepEqual(feeds, { status: 200, count: 0, data: [] }, 'jobs of feeds are apart, and here are none')
})
