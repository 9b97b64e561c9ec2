import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Upload, type UploadOptions } from 'tus-js-client'
import { TicketUploads } from '../../src/imagestore/tickets.ts'
import { addressClient } from '../../src/http/client.ts'
import {
  answerOf,
  expectedHash,
  gradient,
  ImageClient,
  noise,
  plain,
  problem,
  stamped,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { eventually } from '../support/eventually.ts'
import { RawConnection } from '../support/raw.ts'
import { ManualClock, onTwoNodes, startService } from '../support/service.ts'

const HOUR_MS = 3_600_000
const VERSION = { 'tus-resumable': '1.0.0' }
const UNKNOWN = problem(404, 'La subida no existe')
const SPENT = problem(403, 'El permiso de subida ya se usó')

const clock = new ManualClock('2026-01-05T00:00:00Z')
let drawn = 0

const { service, client: app, newClient } = await startImages({ clock })
const png = await noise(200, 200).png().toBuffer()

const picture = () => stamped(png, `reanudable ${++drawn}`)

async function ticket(fields: Readonly<Record<string, string>> = {}): Promise<string> {
  const { body } = await app.call('POST', 'tickets', fields)
  await service.caughtUp()
  return String(body['url'])
}

const post = (url: string, headers: Readonly<Record<string, string>>) =>
  fetch(url, { method: 'POST', headers: { ...VERSION, ...headers } })

async function begin(url: string, bytes: Uint8Array): Promise<string> {
  const response = await post(url, { 'upload-length': String(bytes.byteLength) })
  assert.equal(response.status, 201, await response.text())
  await service.caughtUp()
  return new URL(response.headers.get('location') ?? '', url).href
}

const patch = async (url: string, offset: number, bytes: Uint8Array) => {
  const response = await fetch(url, {
    method: 'PATCH',
    headers: {
      ...VERSION,
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(offset),
    },
    body: new Uint8Array(bytes),
  })
  await service.caughtUp()
  return response
}

const toOffset = async (url: string) => {
  const response = await fetch(url, { method: 'HEAD', headers: VERSION })
  return response.status === 200 ? Number(response.headers.get('upload-offset')) : response.status
}

/** What the service's own parts do, without a request. */
const ownUploads = () => {
  const { database, jobFiles, staging } = service.app.context
  return new TicketUploads({ database, clock, files: jobFiles, staging })
}

/** Uploads with the client that pages use. */
function send(bytes: Buffer, options: UploadOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const upload: Upload = new Upload(bytes, {
      ...options,
      onError: reject,
      onSuccess: () => resolve(upload.url ?? ''),
    })
    upload.start()
  })
}

test('the client of tus uploads in parts, and gets the answer of an upload', async () => {
  const url = await ticket()
  const bytes = picture()
  const at = await send(bytes, {
    endpoint: url,
    chunkSize: 20_000,
    metadata: { filename: 'señal.png', filetype: 'image/png' },
    retryDelays: null,
  })
  assert.ok(at.startsWith(`${url}/`))
  const { status, body, headers } = await answerOf(await fetch(at))
  const hash = expectedHash(bytes)
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(body, { status: 200, hash, size: bytes.byteLength, similar: null })
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.partialDeepStrictEqual((await app.get(hash)).body, { name: 'señal.png', mime: 'image/png' })
  assert.deepEqual(plain(await answerOf(await post(url, { 'upload-length': '9' }))), SPENT)
  clock.advance(HOUR_MS)
  assert.deepEqual(plain(await answerOf(await fetch(at))), UNKNOWN)
})

test('what had arrived when the connection broke is kept', async () => {
  const url = await ticket()
  const bytes = picture()
  const at = await begin(url, bytes)
  const { hostname, port, pathname } = new URL(at)
  const sent = 50_000
  const breakOff = async () => {
    const connection = await RawConnection.open({ url: `http://${hostname}:${port}` })
    connection.send(
      `PATCH ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n` +
        `Content-Type: application/offset+octet-stream\r\nContent-Length: ${bytes.byteLength}\r\n\r\n`,
    )
    connection.send(bytes.subarray(0, sent))
    await pause(100)
    connection.close()
  }
  // On a busy machine, nothing may have arrived when the connection breaks.
  await eventually(async () => {
    if ((await toOffset(at)) === 0) await breakOff()
    return (await toOffset(at)) > 0
  })
  assert.ok((await toOffset(at)) <= sent)
  const resumed = await send(bytes, { endpoint: url, uploadUrl: at, retryDelays: null })
  assert.equal(resumed, at)
  assert.equal((await answerOf(await fetch(at))).body['hash'], expectedHash(bytes))
})

test('of two parts for the same place one is kept', async () => {
  const bytes = picture()
  const at = await begin(await ticket(), bytes)
  const half = bytes.byteLength >> 1
  const parts = [1, 2].map(() => patch(at, 0, bytes.subarray(0, half)))
  const replies = await Promise.all(parts)
  assert.deepEqual(
    replies.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 409],
  )
  const [kept] = replies.filter(({ status }) => status === 204)
  assert.equal(kept?.headers.get('upload-offset'), String(half))
  assert.equal(await toOffset(at), half)
  assert.deepEqual(plain(await answerOf(await fetch(at))), problem(409, 'La subida aún no termina'))
  assert.equal((await patch(at, half, bytes.subarray(half))).status, 204)
  assert.equal((await answerOf(await fetch(at))).body['hash'], expectedHash(bytes))
  // A client that missed the answer learns that all has arrived.
  assert.equal(await toOffset(at), bytes.byteLength)
  assert.equal((await patch(at, half, bytes.subarray(half))).status, 409)
})

test('a refusal of the whole gives the use back', async () => {
  const url = await ticket({ types: 'image/jpeg' })
  const refused = picture()
  const at = await begin(url, refused)
  assert.deepEqual(plain(await answerOf(await post(url, { 'upload-length': '9' }))), SPENT)
  const last = await answerOf(await patch(at, 0, refused))
  const reply = problem(400, 'La imagen es image/png, y el permiso de subida admite image/jpeg')
  assert.deepEqual(plain(last), reply)
  assert.deepEqual([last.code, last.reason], ['ticket_type', 'format'])
  assert.deepEqual(plain(await answerOf(await fetch(at))), reply)
  assert.equal(await toOffset(at), 400)
  const jpeg = await gradient(30, 20).jpeg().toBuffer()
  const other = await begin(url, jpeg)
  assert.equal((await patch(other, 0, jpeg)).status, 204)
  assert.equal((await answerOf(await fetch(other))).status, 200)
})

test('an upload that is left gives its use back after an hour', { skip: onTwoNodes }, async () => {
  const url = await ticket({ expires: '80000' })
  const bytes = picture()
  const at = await begin(url, bytes)
  clock.advance(HOUR_MS - 1)
  assert.equal((await patch(at, 0, bytes.subarray(0, 9))).status, 204)
  const files = () => readdir(join(service.data, 'jobs', 'up'))
  assert.equal((await files()).length, 1)
  clock.advance(HOUR_MS - 1)
  assert.equal(await toOffset(at), 9)
  clock.advance(1)
  assert.equal(await toOffset(at), 404)
  assert.equal((await patch(at, 9, bytes.subarray(9))).status, 404)
  await ownUploads().sweep()
  assert.deepEqual(await files(), [])
  const again = await begin(url, bytes)
  assert.equal((await patch(again, 0, bytes)).status, 204)
  assert.deepEqual(await files(), [])
})

test('limits of uploads that have not ended', async () => {
  const url = await ticket({ uses: '9', max_bytes: '1000' })
  const tooLarge = await answerOf(await post(url, { 'upload-length': '1001' }))
  assert.deepEqual(plain(tooLarge), problem(413, 'La imagen supera el máximo de 1000 bytes'))
  assert.equal(tooLarge.reason, 'too_many_bytes')
  for (let i = 0; i < 3; i++) await begin(url, Buffer.alloc(1_000))
  const { status, headers, body } = await answerOf(await post(url, { 'upload-length': '1000' }))
  assert.deepEqual({ status, body }, problem(429, 'Hay demasiadas subidas sin terminar'))
  assert.equal(headers.get('retry-after'), '60')
})

test('an application has 1 GiB of uploads that have not ended', { skip: onTwoNodes }, async () => {
  const other = await newClient('muchas')
  const statuses: number[] = []
  for (let i = 0; i < 18; i++) {
    const minted = await other.call('POST', 'tickets', { uses: '3' })
    await service.caughtUp()
    for (let j = 0; j < 3; j++) {
      const begun = await post(String(minted.body['url']), { 'upload-length': String(20 * 1024 ** 2) })
      statuses.push(begun.status)
    }
  }
  assert.deepEqual(statuses, [...Array(51).fill(201), 429, 429, 429])
})

test('a restart keeps what has arrived', { skip: onTwoNodes }, async () => {
  const first = await startService({ clock })
  const minting = new ImageClient(first.url, first.imageKey)
  const minted = await minting.call('POST', 'tickets')
  const bytes = picture()
  const at = await begin(String(minted.body['url']), bytes)
  assert.equal((await patch(at, 0, bytes.subarray(0, 700))).status, 204)
  await first.stop()
  await using second = await startService({ clock, data: first.data })
  const moved = `${second.url}${new URL(at).pathname}`
  assert.equal(await toOffset(moved), 700)
  await send(bytes, { endpoint: moved, uploadUrl: moved, retryDelays: null })
  assert.equal((await answerOf(await fetch(moved))).body['hash'], expectedHash(bytes))
})

test('an end that was not answered is made up for', { skip: onTwoNodes }, async () => {
  const bytes = picture()
  const at = await begin(await ticket(), bytes)
  assert.equal((await patch(at, 0, bytes.subarray(0, 500))).status, 204)
  // As if the process had died between the last part and the image.
  const ticketUploads = ownUploads()
  const [ticketText = '', id = ''] = new URL(at).pathname.split('/').slice(-2)
  const upload = await ticketUploads.find(ticketText, id, addressClient('127.0.0.1'))
  await ticketUploads.append(upload, Readable.from([bytes.subarray(500)]))
  assert.equal((await app.get(expectedHash(bytes))).status, 404)
  assert.equal(await toOffset(at), bytes.byteLength)
  assert.equal((await app.get(expectedHash(bytes))).status, 200)
})

test('a cancelled upload gives its use back, unless it has ended', async () => {
  const url = await ticket()
  const image = picture()
  const cancel = async (upload: string) => {
    const { status } = await fetch(upload, { method: 'DELETE', headers: VERSION })
    await service.caughtUp()
    return status
  }
  const left = await begin(url, image)
  await patch(left, 0, image.subarray(0, 100))
  assert.deepEqual(plain(await answerOf(await post(url, { 'upload-length': '9' }))), SPENT)
  assert.equal(await cancel(left), 204)
  assert.deepEqual(plain(await answerOf(await fetch(left))), UNKNOWN)
  const whole = await begin(url, image)
  assert.equal((await patch(whole, 0, image)).status, 204)
  assert.equal(await cancel(whole), 404)
  assert.equal((await fetch(whole)).status, 200)
})

test('what a client learns of the server before it uploads', async () => {
  const { status, headers } = await fetch(await ticket(), { method: 'OPTIONS' })
  assert.deepEqual(
    [status, headers.get('tus-version'), headers.get('tus-extension')],
    [204, '1.0.0', 'creation,expiration,termination'],
  )
})

test('what the protocol asks for', async () => {
  const url = await ticket({ uses: '5' })
  const bytes = picture()
  const at = await begin(url, bytes)
  assert.match(new URL(at).pathname, /^\/u\/[\w-]{32}\/[\w-]{16}$/)
  const wrong = await fetch(at, { method: 'HEAD', headers: { 'tus-resumable': '0.2.2' } })
  assert.deepEqual(
    [wrong.status, wrong.headers.get('tus-version'), wrong.headers.get('tus-resumable')],
    [412, '1.0.0', '1.0.0'],
  )
  const old = await answerOf(await post(url, { 'tus-resumable': '0.2.2' }))
  assert.deepEqual(plain(old), problem(412, 'La cabecera Tus-Resumable debe ser 1.0.0'))
  const { body: without } = await answerOf(await post(url, {}))
  assert.equal(without['msg'], 'La cabecera Upload-Length debe ser un número de bytes')
  for (const [headers, name] of [
    [{}, 'Upload-Length'],
    [{ 'upload-defer-length': '1' }, 'Upload-Length'],
    [{ 'upload-length': '-1' }, 'Upload-Length'],
    [{ 'upload-length': '9', 'upload-metadata': `filename ${btoa('a'.repeat(1_025))}` }, 'Upload-Metadata'],
  ] as const) {
    const { status, body } = await answerOf(await post(url, headers))
    assert.equal(status, 400)
    assert.match(String(body['msg']), new RegExp(`^La cabecera ${name} `))
  }
  const empty = await answerOf(await post(url, { 'upload-length': '0' }))
  assert.deepEqual([empty.status, empty.code, empty.reason], [401, 'image_damaged', 'missing'])
  const typed = await fetch(at, {
    method: 'PATCH',
    headers: { ...VERSION, 'upload-offset': '0' },
    body: 'a',
  })
  const wrongType = problem(415, 'El tipo de contenido debe ser application/offset+octet-stream')
  assert.deepEqual(plain(await answerOf(typed)), wrongType)
  assert.equal((await patch(at, 0, Buffer.alloc(bytes.byteLength + 1))).status, 413)
  const misplaced = problem(409, 'La cabecera Upload-Offset no es donde va la subida')
  assert.deepEqual(plain(await answerOf(await patch(at, 1, bytes))), misplaced)
  const parts = JSON.stringify(Array(1_000).fill(['upload-x', 1]))
  await service.sql(`UPDATE ticket_uploads SET parts = '${parts}' WHERE id = '${at.split('/').at(-1)}'`)
  await service.caughtUp()
  const tooMany = problem(400, 'La subida llegó en demasiadas partes')
  assert.deepEqual(plain(await answerOf(await patch(at, 0, bytes))), tooMany)
  const elsewhere = at.replace(/[\w-]{32}/, 'a'.repeat(32))
  assert.deepEqual(plain(await answerOf(await fetch(elsewhere))), UNKNOWN)
  const preflight = await fetch(at, {
    method: 'OPTIONS',
    headers: { origin: 'https://tienda.example', 'access-control-request-method': 'PATCH' },
  })
  assert.match(String(preflight.headers.get('access-control-allow-methods')), /HEAD.*PATCH/)
  const exposed = String((await fetch(at)).headers.get('access-control-expose-headers')).split(', ')
  for (const name of ['Location', 'Upload-Offset', 'Upload-Length', 'Tus-Resumable', 'Tus-Version'])
    assert.ok(exposed.includes(name), name)
})
