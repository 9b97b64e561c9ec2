/** Each error that OpenAPI or the documents show is exactly what a client gets. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { adminErrors } from '../../src/admin/schemas.ts'
import { domainErrors } from '../../src/domainwatch/errors.ts'
import { keyErrors } from '../../src/http/auth/authenticator.ts'
import { httpErrors } from '../../src/http/errors.ts'
import { imageErrors } from '../../src/imagestore/errors.ts'
import { commonErrors, type HttpError } from '../../src/lib/errors.ts'
import { add, UPDATE } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { parseError, splitCode } from '../support/error-codes.ts'
import { call, send, type Fields, type Reply } from '../support/http.ts'
import { gradient, ImageClient, INFO } from '../support/images.ts'
import { resolved } from '../support/openapi.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'
import { createWatch, onWatch, watch } from '../support/watches.ts'

const folder = await temporaryFolder()
after(() => folder[Symbol.asyncDispose]())
const settings = join(folder.path, 'images.json')
await writeFile(
  settings,
  JSON.stringify({ presets: { ficha: 'w_9' }, watermarks: { ficha: { image: 'a'.repeat(32) } } }),
)
const service = await startService({ flags: { 'image-settings': settings } })
after(() => service[Symbol.asyncDispose]())
const admin = (await service.newKey('dueño', 'admin')).key
const KEYS = { domainwatch: service.domainKey, imagestore: service.imageKey, admin }
const ONCE = { scope: 'full', expiresAt: null, rate: { count: 1, periodMs: 24 * 3_600_000 } } as const

type Name = keyof typeof KEYS
interface Documented {
  readonly method: string
  readonly path: string
  readonly of: Name | undefined
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** The errors of all operations with their examples. */
async function documented(): Promise<Documented[]> {
  const { paths } = Object(resolved(Object(await (await fetch(`${service.url}/openapi.json`)).json())))
  const found: Documented[] = []
  for (const [path, operations] of Object.entries<object>(paths))
    for (const [method, { responses }] of Object.entries<{ responses: object }>(Object(operations)))
      for (const [status, answer] of Object.entries(responses)) {
        const [media] = Object.values<{ example: Record<string, unknown> }>(Object(answer).content ?? {})
        const of = (['domainwatch', 'imagestore', 'admin'] as const).find((name) =>
          path.startsWith(`/api/v1/${name}/`),
        )
        if (Number(status) >= 400 && media !== undefined)
          found.push({ method: method.toUpperCase(), path, of, status: Number(status), body: media.example })
      }
  return found
}

type Refusal = Pick<Reply, 'status' | 'body' | 'code'>

const keyed = (one: Documented, query: Fields = {}, key?: string) =>
  call(service, one.path, {
    method: one.method,
    query: { ...(one.of !== undefined && { api: key ?? KEYS[one.of] }), ...query },
  })

/** Sends a head that no HTTP client would send, and no body. */
async function raw({ method, path, of }: Documented, head: string): Promise<Refusal> {
  const connection = await RawConnection.open(service)
  const key = of === undefined ? '' : `?api=${KEYS[of]}`
  connection.send(`${method} ${path}${key} HTTP/1.1\r\n${head}\r\n`)
  const reply = await connection.reply()
  connection.close()
  return { status: reply?.status ?? 0, ...splitCode(JSON.parse(reply?.body ?? 'null')) }
}

const images = new ImageClient(service.url, service.imageKey)
const uploaded = async () => String((await images.upload(await gradient(9, 9).png().toBuffer())).body['hash'])
const limits = (fields: Fields) => send(service, '/api/v1/admin/limits', fields, { query: { api: admin } })

async function newTicket(query: Fields = {}): Promise<string> {
  const { text } = await call(service, '/api/v1/imagestore/tickets', {
    method: 'POST',
    query: { api: service.imageKey, ...query },
  })
  return String(Object(JSON.parse(text)).ticket)
}

const withTicket = (ticket: string, bytes: Uint8Array = Buffer.from('no es una imagen')) =>
  call(service, `/u/${ticket}`, { headers: { 'content-type': 'image/png' }, body: new Uint8Array(bytes) })

/** Its refusal, which several operations document. */
let largeImage: Promise<Refusal> | undefined

/** How to provoke an error anywhere, by its message. */
const ANYWHERE: Readonly<Record<string, (one: Documented) => Promise<Refusal>>> = {
  'La solicitud no es válida': (one) => raw(one, 'host: a\r\nhost: b\r\n'),
  'Falta la clave de API': ({ method, path }) => call(service, path, { method }),
  'La clave de API no da acceso a este servicio': (one) =>
    keyed(one, {}, one.of === 'admin' ? service.domainKey : admin),
  'Demasiadas solicitudes': async (one) => {
    const name = one.of ?? 'domainwatch'
    const { key } = await service.newKey(`una vez ${name}`, name, ONCE)
    await call(service, `/api/v1/${name}/key`, { query: { api: key } })
    return keyed(one, {}, key)
  },
  'La imagen no existe': (one) =>
    keyed(
      { ...one, path: one.path.replace('{id}', 'nada') },
      one.path.startsWith('/i/')
        ? {}
        : { hash: 'nada'.repeat(16), ...(one.path.endsWith('/alias') && { name: 'portada' }) },
    ),
  'La alerta no existe': (one) =>
    keyed(
      { ...one, path: one.path.replace('{token}', 'nada') },
      { id: 'nada', ...(one.path.endsWith('/replay') && { delivery: 'nada' }) },
    ),
  'El modificador zoom_2 no existe': (one) => keyed(one, { name: 'portada', modifiers: 'zoom_2' }),
  'El nombre está definido en el archivo de configuración': (one) =>
    keyed(one, { name: 'ficha', [one.path.endsWith('presets') ? 'modifiers' : 'image']: '' }),
  'El trabajo no existe': (one) => keyed(one, { id: 'nada' }),
  'La regla no existe': (one) => keyed(one, { id: 'nada' }),
  'La vista no existe': (one) => keyed(one, { id: 'nada' }),
  'Solo la cuenta dueña puede cambiar el destino': async (one) => {
    const { id } = await watch(service, { url: 'https://example.cl/avisos', shared: '1' })
    const { key } = await service.newKey('ajena', 'domainwatch')
    return keyed(one, { id, ...(one.path.endsWith('/update') && { url: '' }) }, key)
  },
  'La cuenta no existe': (one) => keyed(one, { account: 'nadie' }),
  'La clave no existe': (one) => keyed(one, { id: 'nada' }),
  'La cuenta grupo es del servicio domainwatch': (one) => keyed(one, { account: 'grupo' }),
  'La cuenta fotos es del servicio imagestore': (one) =>
    keyed(one, { account: 'fotos', ...(one.path.endsWith('/create') && { service: 'domainwatch' }) }),
  'Ha fallado la solicitud': (one) => keyed(one),
  'Falta el parámetro data': () => update({}),
  'Hay 1 registro con errores': async ({ path }) => {
    const { length: _, ...rest } = { domain: 'a', length: 1, reserve: 0, status: 1, date_reg: DATE }
    return path === UPDATE ? update({ data: [{ domain: 'nada' }] }) : add(service, [rest])
  },
  'El servicio no tiene configurado telegram': () =>
    createWatch(service, { name: 'a', to: 'telegram:-1001234567890' }),
  'La cuenta ya tiene 50 alertas': async () => {
    const { key } = await service.newKey('vigías', 'domainwatch')
    const made = Array.from({ length: 51 }, () => createWatch(service, { name: 'a', atom: '' }, key))
    const refused = (await Promise.all(made)).find(({ status }) => status !== 200)
    return refused ?? assert.fail('all were made')
  },
  'La alerta no tiene webhook': async () =>
    onWatch(service, 'rotate', { id: (await watch(service, { atom: '' })).id }),
  'La entrega no existe': async () =>
    onWatch(service, 'replay', { id: (await watch(service, { atom: '' })).id, delivery: 'nada' }),
  'La solicitud debe llevar el parámetro hash o el parámetro dhash': (one) => keyed(one),
  'El permiso de subida no existe': () => withTicket('a'.repeat(32)),
  'El permiso de subida ya se usó': async () => {
    const ticket = await newTicket()
    await withTicket(ticket, await gradient(9, 9).png().toBuffer())
    return withTicket(ticket)
  },
  'La imagen es image/gif, y el permiso de subida admite image/jpeg, image/png': async () =>
    withTicket(await newTicket({ types: 'image/jpeg,image/png' }), await gradient(9, 9).gif().toBuffer()),
  'El tipo de contenido debe ser multipart/form-data o el de una imagen, como image/png': async ({ path }) =>
    call(service, path.replace('{ticket}', 'nada'), { method: 'POST' }),
  'El rango pedido está fuera de la imagen': async () =>
    call(service, `/i/${await uploaded()}`, { headers: { range: 'bytes=999999-' } }),
  'La cabecera Last-Event-ID debe ser el id de un evento recibido': ({ path }) =>
    call(service, path, { query: { api: service.domainKey }, headers: { 'last-event-id': '-' } }),
  'La imagen está dañada': () => images.upload(Buffer.from('no es una imagen')),
  'El parámetro expires debe ser un momento futuro, en segundos desde 1970': async () =>
    images.upload(await gradient(9, 9).png().toBuffer(), { ...INFO, expires: 1 }),
  'La imagen supera el máximo de 20971520 bytes': () =>
    (largeImage ??= images.upload(Buffer.alloc(20_971_521))),
  'El modificador w_300 está repetido': async () => call(service, `/i/${await uploaded()}&m=w_300,w_300`, {}),
  'La imagen solo se entrega por enlaces firmados': async () => {
    const hash = await uploaded()
    await limits({ account: 'fotos', delivery: 'signed' })
    const reply = await call(service, `/i/${hash}&m=w_8`)
    await limits({ account: 'fotos', delivery: 'open' })
    return reply
  },
}
const DATE = '2025-12-31 14:30:34'
const update = (fields: Fields) => send(service, UPDATE, fields, { query: { api: service.domainKey } })

/** The parts of a message around its numbers and placeholders. */
const literals = (text: string) => text.split(/<[^>]+>|…|\d+/).toSorted((a, b) => b.length - a.length)

/** The other tests: errors that take too much to provoke here are asserted there. */
const tests = new URL('../', import.meta.url)
const SOURCES = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('http/documented-errors.test.ts'))
  .map((path) => readFileSync(new URL(path, tests), 'utf8'))
  .join('\n')
const isAsserted = (msg: string) => SOURCES.includes(literals(msg)[0] ?? msg)

/** Undefined for what only another test can provoke. */
async function provoke(one: Documented): Promise<Refusal | undefined> {
  const msg = String(one.body['msg'])
  const [, parameter] = /^El parámetro (\w+) debe/.exec(msg) ?? []
  const [, unknown] = /^El parámetro (\w+) no existe/.exec(msg) ?? []
  const [, limit] = /^El cuerpo de la solicitud supera el máximo de (\d+) bytes$/.exec(msg) ?? []
  const known = ANYWHERE[msg]
  if (known !== undefined) return known(one)
  if (parameter !== undefined) return keyed(one, { [parameter]: '\0' })
  if (unknown !== undefined) return keyed(one, { [unknown]: '' })
  if (limit !== undefined) {
    const type = 'content-type: application/json'
    return raw(one, `host: x\r\n${type}\r\ncontent-length: ${Number(limit) + 1}\r\n`)
  }
  if (one.status === 415 && one.of !== undefined) {
    const headers = { 'content-type': 'text/csv' }
    return call(service, one.path, { query: { api: KEYS[one.of ?? 'admin'] }, headers, body: 'a,b' })
  }
  assert.ok(isAsserted(msg), `${one.method} ${one.path} ${one.status}: nothing provokes ${msg}`)
  return undefined
}

suite('errors of the OpenAPI document', async () => {
  const all = Object.groupBy(await documented(), ({ method, path }) => `${method} ${path}`)
  for (const [operation, errors = []] of Object.entries(all))
    test(operation, async () => {
      for (const one of errors) {
        const msg = String(one.body['msg'])
        // Which of several statuses a public link returns without a key is up to the tests of links.
        if (one.path.startsWith('/i/') && one.status === 429) continue
        const provoked = await provoke(one)
        if (provoked === undefined) continue
        const { status, body, code } = provoked
        const shown = splitCode(one.body)
        const isUnknownName = one.path === UPDATE && one.status === 500
        const expected = isUnknownName ? { ...Object(shown.body), errors: Object(body).errors } : shown.body
        assert.deepEqual(
          [status, body, code],
          [one.status, expected, isUnknownName ? 'names_not_recorded' : shown.code],
          `${operation} ${msg}`,
        )
      }
    })
})

const api = new URL('../../docs/api/', import.meta.url)
const PROSE = readdirSync(api).map((page) => readFileSync(new URL(page, api), 'utf8'))

/** All errors, by their code. */
const DECLARED: Readonly<Record<string, (...details: never[]) => HttpError>> = {
  ...commonErrors,
  ...httpErrors,
  ...keyErrors,
  ...domainErrors,
  ...imageErrors,
  ...adminErrors,
}

/** The rows of tables of errors. */
const documentedRows = () =>
  PROSE.flatMap((page) =>
    [...page.matchAll(/^\| ([45]\d\d) +\| `(\w+)` +\| `([^`]+)`/gm)].map(
      ([, status, code = '', msg = '']) => ({
        status: Number(status),
        code,
        msg,
      }),
    ),
  )

/** Messages of the documents that no test can provoke, and why. */
const UNPROVOKED = new Map([
  ['No se pudo transformar la imagen', 'the decoder fails on no image that it accepted'],
  ['La conexión se cerró antes de terminar', 'there is no one to receive it'],
])

test('a body that ends early is a malformed request', async () => {
  const connection = await RawConnection.open(service)
  const type = 'content-type: application/x-www-form-urlencoded'
  connection.send(`POST ${UPDATE}?api=${service.domainKey} HTTP/1.1\r\nhost: x\r\n${type}\r\n`)
  connection.send('content-length: 10\r\n\r\ndata=')
  connection.socket.end()
  assert.deepEqual(parseError((await connection.reply())?.body), {
    status: 400,
    msg: 'La solicitud no es válida',
  })
})

test('each documented error is provoked by a test', async () => {
  const quota = await limits({ account: 'fotos', max_images: '-1' })
  assert.deepEqual(quota.body, {
    status: 400,
    msg: 'El parámetro max_images debe ser un entero entre 0 y 999999999999999, o none',
  })
  const events = await call(service, '/api/v1/domainwatch/events', {
    query: { api: service.domainKey, last_event_id: '-' },
  })
  assert.deepEqual(events.body, {
    status: 400,
    msg: 'El parámetro last_event_id debe ser el id de un evento recibido',
  })
  const language = await createWatch(service, { name: 'a', atom: '', language: 'fr' })
  assert.deepEqual(language.body, { status: 400, msg: 'El parámetro language debe ser es o en' })
  const messages = documentedRows().flatMap(({ msg }) => msg)
  assert.ok(messages.length > 70)
  const unseen = messages.filter(
    (msg) => !UNPROVOKED.has(msg) && ANYWHERE[msg] === undefined && !isAsserted(msg),
  )
  assert.deepEqual(unseen, [])
})

test('the documents name the code of each error, with its status and message', () => {
  const rows = documentedRows()
  const codes = Object.entries(DECLARED)
  for (const [code, error] of codes) {
    const { status, message }: HttpError = Reflect.apply(error, undefined, ['<x>', '<y>'])
    const isOfRow = (row: { status: number; msg: string }) =>
      row.status === status && literals(message).every((part) => row.msg.includes(part))
    const own = rows.filter((row) => row.code === code)
    assert.deepEqual(
      own.filter((row) => !isOfRow(row)),
      [],
      code,
    )
    assert.ok(
      own.length > 0 || PROSE.some((page) => page.includes(`"${code}"`) || page.includes(`\`${code}\``)),
      `docs/api lacks ${code}`,
    )
  }
  assert.deepEqual(
    rows.filter(({ code }) => !Object.hasOwn(DECLARED, code)),
    [],
  )
})
