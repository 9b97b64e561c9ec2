import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  answerOf,
  DAMAGED,
  expectedHash,
  gradient,
  ImageClient,
  plain,
  postBytes,
  problem,
  UNEDITED,
} from '../support/images.ts'
import { picture, startImages } from '../support/image-service.ts'
import { eventually } from '../support/eventually.ts'
import { OUT_OF_SCOPE } from '../support/key-limits.ts'
import { RawConnection } from '../support/raw.ts'
import { ManualClock, onTwoNodes, startService } from '../support/service.ts'

/** Seconds since 1970. */
const START = Date.parse('2026-01-05T00:00:00Z') / 1_000
const UNKNOWN = problem(404, 'El permiso de subida no existe')
const SPENT = problem(403, 'El permiso de subida ya se usó')
const EXPIRED = problem(403, 'El permiso de subida expiró')

const clock = new ManualClock('2026-01-05T00:00:00Z')

const {
  service,
  client: app,
  newClient,
} = await startImages({ clock, flags: { 'trusted-proxies': '127.0.0.1' } })
const png = await gradient(30, 20).png().toBuffer()

const mint = async (fields: Readonly<Record<string, string>> = {}, client = app) =>
  client.call('POST', 'tickets', fields)

async function ticket(fields: Readonly<Record<string, string>> = {}, client = app): Promise<string> {
  const { status, body } = await mint(fields, client)
  assert.equal(status, 200, JSON.stringify(body))
  await service.caughtUp()
  return String(body['url'])
}

function sendForm(url: string, bytes: Uint8Array, name: string) {
  const body = new FormData()
  body.append('image', new File([new Uint8Array(bytes)], name, { type: 'image/jpeg' }))
  return fetch(url, { method: 'POST', body }).then(answerOf)
}

async function stored(hash: unknown): Promise<Readonly<Record<string, unknown>>> {
  await service.caughtUp()
  const { body } = await app.get(String(hash))
  return body
}

test('the answer has the ticket, its address and its end', async () => {
  const { status, body } = await mint()
  const name = String(body['ticket'])
  assert.match(name, /^[\w-]{32}$/)
  const url = `${service.url}/u/${name}`
  assert.deepEqual(
    { status, body },
    { status: 200, body: { status: 200, ticket: name, url, expires: START + 600 } },
  )
})

test('raw bytes, whatever image type the header says', async () => {
  const bytes = picture()
  const reply = await postBytes(await ticket(), bytes, { 'content-type': 'image/x-anything' })
  const hash = expectedHash(bytes)
  const { dhash, thumbhash, color, dark } = reply.body
  assert.deepEqual(plain(reply), {
    status: 200,
    body: {
      status: 200,
      hash,
      dhash,
      thumbhash,
      color,
      dark,
      ...UNEDITED,
      size: bytes.byteLength,
      width: 30,
      height: 20,
      link: `${service.url}/i/${hash}`,
      similar: null,
    },
  })
  assert.partialDeepStrictEqual(await stored(hash), { name: 'imagen', mime: 'image/png', expires: null })
})

test('a multipart body, whose file gives the name', async () => {
  const { status, body } = await sendForm(await ticket(), picture(), 'mi gato.jpg')
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(await stored(body['hash']), { name: 'mi gato.jpg', mime: 'image/png' })
})

test('what the ticket fixes holds', async () => {
  const fixed = {
    name: 'pedido 7',
    image_expires: String(START + 9_000),
    max_bytes: '2000',
    types: 'image/png,image/gif',
  }
  const url = await ticket({ ...fixed, uses: '5' })
  const { body } = await sendForm(url, picture(), 'otra.png')
  assert.partialDeepStrictEqual(await stored(body['hash']), { name: 'pedido 7', expires: START + 9_000 })
  const large = await gradient(300, 200).png().toBuffer()
  const tooLarge = problem(400, 'La imagen supera el máximo de 2000 bytes del permiso de subida')
  const replies = [
    await postBytes(url, large),
    await sendForm(url, large, 'a.png'),
    await sendForm(url, Buffer.alloc(500_000), 'a'),
  ]
  for (const reply of replies) {
    assert.deepEqual(plain(reply), tooLarge)
    assert.deepEqual([reply.code, reply.reason], ['ticket_bytes', 'too_many_bytes'])
  }
  const jpeg = await gradient(30, 20).jpeg().toBuffer()
  const other = problem(400, 'La imagen es image/jpeg, y el permiso de subida admite image/png, image/gif')
  assert.deepEqual(plain(await postBytes(url, jpeg)), other)
  // Bytes that are known already, too.
  assert.equal((await app.upload(jpeg)).status, 200)
  const refused = await postBytes(url, jpeg)
  assert.deepEqual([plain(refused), refused.code, refused.reason], [other, 'ticket_type', 'format'])
})

test('an image larger than the service accepts', async () => {
  await using small = await startService({ flags: { 'max-image-bytes': '1KiB' } })
  const url = await ticket({}, new ImageClient(small.url, small.imageKey))
  const large = await gradient(300, 200).png().toBuffer()
  assert.deepEqual(
    plain(await postBytes(url, large)),
    problem(413, 'La imagen supera el máximo de 1024 bytes'),
  )
})

test('a success spends a use, a refusal does not', async () => {
  const url = await ticket({ uses: '2' })
  assert.deepEqual(plain(await postBytes(url, Buffer.from('texto'))), DAMAGED)
  assert.equal((await postBytes(url, picture())).status, 200)
  assert.deepEqual(plain(await postBytes(url, png.subarray(0, 80))), DAMAGED)
  assert.equal((await postBytes(url, picture())).status, 200)
  const spent = await postBytes(url, picture())
  assert.deepEqual([plain(spent), spent.code], [SPENT, 'ticket_spent'])
})

test('after 20 refusals a ticket is spent', async () => {
  const url = await ticket({ uses: '1000' })
  for (let i = 0; i < 19; i++) assert.equal((await postBytes(url, Buffer.from('texto'))).status, 401)
  assert.equal((await postBytes(url, picture())).status, 200)
  assert.equal((await postBytes(url, Buffer.from('texto'))).status, 401)
  assert.deepEqual(plain(await postBytes(url, picture())), SPENT)
})

test('of uploads at the same time, each takes a use of its own', async () => {
  const url = await ticket({ uses: '3' })
  const replies = await Promise.all(Array.from({ length: 12 }, () => postBytes(url, picture())))
  const statuses = replies.map(({ status }) => status).sort((a, b) => a - b)
  assert.deepEqual(statuses, [200, 200, 200, ...Array.from({ length: 9 }, () => 403)])
})

/** Begins an upload that ends only with its connection. */
async function beginUpload(url: string): Promise<RawConnection> {
  const line = await RawConnection.open(service)
  const { pathname, host } = new URL(url)
  const headers = `Content-Type: image/png\r\nContent-Length: ${png.byteLength}`
  line.send(`POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n\r\n`)
  line.send(png.subarray(0, 50))
  return line
}

test('a use is reserved while its upload runs, and given back when the connection breaks', async () => {
  // The other upload may be faster: then the next attempt gives the first one more time.
  for (let waitMs = 20; ; waitMs *= 2) {
    const url = await ticket()
    const line = await beginUpload(url)
    await pause(waitMs)
    const other = plain(await postBytes(url, picture()))
    const isReserved = other.status === 403
    if (isReserved) assert.deepEqual(other, SPENT)
    line.socket.destroy()
    await once(line.socket, 'close')
    if (isReserved) {
      const bytes = picture()
      return eventually(async () => (await postBytes(url, bytes)).status === 200)
    }
    assert.ok(waitMs < 10_000, 'the use was not reserved')
  }
})

test('an expired ticket, and an unknown one', async () => {
  const url = await ticket({ expires: '60' })
  clock.advance(59_000)
  assert.deepEqual(plain(await postBytes(url, Buffer.from('texto'))), DAMAGED)
  clock.advance(1_000)
  const expired = await postBytes(url, picture())
  assert.deepEqual([plain(expired), expired.code], [EXPIRED, 'ticket_expired'])
  const unknown = await postBytes(`${service.url}/u/${'a'.repeat(32)}`, picture())
  assert.deepEqual([plain(unknown), unknown.code], [UNKNOWN, 'ticket_not_found'])
  assert.deepEqual(plain(await postBytes(`${service.url}/u/nada`, picture())), UNKNOWN)
})

test('a ticket ends with the revocation of its key', async () => {
  const { key, id } = await service.newKey('fotos', 'imagestore')
  const url = await ticket({}, new ImageClient(service.url, key))
  await service.revokeKey(id)
  assert.deepEqual(plain(await postBytes(url, picture())), UNKNOWN)
})

test('a body of another type', async () => {
  const url = await ticket()
  for (const type of ['application/json', 'text/plain', 'application/octet-stream'])
    assert.equal((await postBytes(url, png, { 'content-type': type })).code, 'upload_type')
  assert.equal((await postBytes(url, picture())).status, 200)
})

// The balancer drops what clients say of their address.
test(
  "the address of the upload is the visitor's, through a trusted proxy",
  { skip: onTwoNodes },
  async () => {
    const { body } = await postBytes(await ticket(), picture(), { 'x-forwarded-for': '203.0.113.9' })
    assert.equal(await getAddress(String(body['hash'])), '203.0.113.9')
  },
)

/** The address of an image's uploader, which no answer contains. */
async function getAddress(hash: string): Promise<string | undefined> {
  if (service.databaseUrl !== '') return /203\.0\.113\.9/.exec((await service.dump()).toString())?.[0]
  using db = new DatabaseSync(`${service.data}/catalejo.db`, { readOnly: true })
  return String(db.prepare('SELECT ip FROM images WHERE hash = ?').get(hash)?.['ip'])
}

test('pages of all origins may upload, whatever origins are allowed', async () => {
  await using closed = await startService({ flags: { 'cors-origins': 'https://panel.ejemplo.cl' } })
  const url = await ticket({}, new ImageClient(closed.url, closed.imageKey))
  const origin = 'https://tienda.ejemplo.cl'
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'content-type')
  for (const { headers } of [
    preflight,
    await postBytes(url, png, { origin }),
    await postBytes(url, png, { origin }),
  ]) {
    assert.equal(headers.get('access-control-allow-origin'), '*')
    assert.equal(headers.get('vary')?.includes('Origin') ?? false, false)
  }
})

suite('what belongs to whom', () => {
  const scoped = (scope: 'upload' | 'tickets' | 'read') => newClient('fotos', { scope })

  test('a key of scope tickets opens nothing else', async () => {
    const client = await scoped('tickets')
    const { status, body } = await postBytes(await ticket({}, client), picture())
    assert.equal(status, 200)
    assert.deepEqual((await client.upload(picture())).body, OUT_OF_SCOPE)
    assert.deepEqual((await client.get(String(body['hash']))).body, OUT_OF_SCOPE)
    assert.deepEqual((await client.remove(String(body['hash']))).body, OUT_OF_SCOPE)
    assert.deepEqual((await mint({}, await scoped('read'))).body, OUT_OF_SCOPE)
    assert.partialDeepStrictEqual(await stored(body['hash']), { status: 200 })
  })

  test('images of a ticket belong to the key of scope upload that created it', async () => {
    const [one, other] = [await scoped('upload'), await scoped('upload')]
    const { body } = await postBytes(await ticket({}, one), picture())
    await service.caughtUp()
    assert.equal((await one.get(String(body['hash']))).status, 200)
    assert.equal((await other.get(String(body['hash']))).status, 404)
    assert.equal((await one.remove(String(body['hash']))).status, 200)
  })

  test('a ticket changes no image that the application has', async () => {
    const bytes = picture()
    const first = await app.upload(bytes, { name: 'de la tienda' })
    const before = await stored(first.body['hash'])
    clock.advance(5_000)
    for (const client of [app, await scoped('upload')]) {
      assert.equal((await sendForm(await ticket({ name: 'ajeno' }, client), bytes, 'b.png')).status, 200)
      assert.deepEqual(await stored(first.body['hash']), before)
    }
  })
})

test('malformed parameters', async () => {
  for (const [name, value, takes] of [
    ['expires', '86401', 'debe ser un entero entre 1 y 86400'],
    ['uses', '1001', 'debe ser un entero entre 1 y 1000'],
    ['max_bytes', '0', 'debe ser un entero entre 1 y 20971520'],
    ['name', '', 'debe ser un texto de 1 a 1024 caracteres'],
    ['image_expires', '5', 'debe ser un momento futuro, en segundos desde 1970'],
  ] as const)
    assert.deepEqual(plain(await mint({ [name]: value })), problem(400, `El parámetro ${name} ${takes}`))
  const { body } = await mint({ types: 'image/png,text/html' })
  assert.match(
    String(body['msg']),
    /^El parámetro types debe tener, separados por comas, uno de: image\/jpeg,/,
  )
})

test('the ticket itself is stored nowhere', async () => {
  const { body } = await mint()
  const name = String(body['ticket'])
  await postBytes(String(body['url']), picture())
  assert.equal((await service.log()).includes(name), false)
  const stored = service.databaseUrl === '' ? await getContents(service.data) : await service.dump()
  assert.equal(stored.includes(name), false)
})

async function getContents(folder: string): Promise<Buffer> {
  const files = ['catalejo.db', 'catalejo.db-wal'].map((name) => readFile(`${folder}/${name}`))
  return Buffer.concat(await Promise.all(files))
}

test('a ticket that ended a day ago is unknown', async () => {
  const url = await ticket({ expires: '1' })
  clock.advance(86_000_000)
  assert.deepEqual(plain(await postBytes(url, png)), EXPIRED)
  clock.advance(500_000)
  assert.deepEqual(plain(await postBytes(url, png)), UNKNOWN)
})

test('the address of a ticket works below the path of the base URL', { skip: onTwoNodes }, async () => {
  await using service = await startService({ flags: { 'base-url': 'https://fotos.ejemplo.cl/img' } })
  const { port } = new URL(service.app.server.listeningOrigin)
  const local = `http://127.0.0.1:${port}`
  const client = new ImageClient(`${local}/img`, service.imageKey)
  const minted = await client.call('POST', 'tickets')
  const url = String(minted.body['url'])
  assert.match(url, /^https:\/\/fotos\.ejemplo\.cl\/img\/u\/[\w-]{32}$/)
  const sent = url.replace('https://fotos.ejemplo.cl', local)
  const { status, body } = await postBytes(sent, picture())
  assert.equal(status, 200)
  assert.match(String(body['link']), /^https:\/\/fotos\.ejemplo\.cl\/img\/i\/[a-z2-7]{32}$/)
})
