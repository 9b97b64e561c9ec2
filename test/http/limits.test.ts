import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { parseError } from '../support/error-codes.ts'
import { ADD } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const MIB = 1024 * 1024
const service = await startService({ flags: { 'max-image-bytes': '1048576' } })
after(() => service[Symbol.asyncDispose]())

/** Endpoint, key, largest body. */
const LIMITS: readonly [string, string, number][] = [
  [ADD, service.domainKey, 32 * MIB],
  ['/api/v1/imagestore/upload', service.imageKey, 3 * MIB],
  ['/api/v1/imagestore/delete', service.imageKey, 64 * 1024],
]

const tooLarge = (limit: number) => ({
  status: 413,
  msg: `El cuerpo de la solicitud supera el máximo de ${limit} bytes`,
})

/** Writes with respect for the other side's pace. */
async function write(connection: RawConnection, bytes: Buffer): Promise<void> {
  if (!connection.socket.write(bytes)) await once(connection.socket, 'drain')
}

async function assertGoesOn(connection: RawConnection): Promise<void> {
  connection.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.equal((await connection.reply())?.body, '{"status":200}')
  connection.close()
}

const FORM = 'content-type: application/x-www-form-urlencoded'

test('a declared body beyond the limit is a 413, and one of exactly the limit is read', async () => {
  for (const [path, key, limit] of LIMITS) {
    const connection = await RawConnection.open(service)
    const head = `POST ${path}?api=${key} HTTP/1.1\r\nhost: x\r\n${FORM}\r\n`
    connection.send(`${head}content-length: ${limit + 1}\r\n\r\n`)
    // The answer comes before the body, and the connection stays open.
    assert.deepEqual(parseError((await connection.reply())?.body), tooLarge(limit))
    for (let sent = 0; sent < limit; sent += 64 * 1024) await write(connection, Buffer.alloc(64 * 1024, 'a'))
    await write(connection, Buffer.from('a'))
    await assertGoesOn(connection)

    const body = `x=${'a'.repeat(limit - 2)}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status } = await call(service, path, { method: 'POST', query: { api: key }, headers, body })
    assert.notEqual(status, 413)
  }
})

test('a chunked body beyond the limit is a 413, and the connection stays open', async () => {
  const [path, key, limit] = ['/api/v1/imagestore/upload', service.imageKey, 3 * MIB]
  const connection = await RawConnection.open(service)
  connection.send(
    `POST ${path}?api=${key} HTTP/1.1\r\nhost: x\r\n${FORM}\r\ntransfer-encoding: chunked\r\n\r\n`,
  )
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(64 * 1024, 'a'), Buffer.from('\r\n')])
  for (let sent = 0; sent <= limit + MIB; sent += 64 * 1024) await write(connection, chunk)
  connection.send('0\r\n\r\n')
  assert.deepEqual(parseError((await connection.reply())?.body), tooLarge(limit))
  await assertGoesOn(connection)
})

test('a rejected key does not close the connection, whatever the body', async () => {
  const connection = await RawConnection.open(service)
  connection.send(
    `POST ${ADD}?api=mala HTTP/1.1\r\nhost: x\r\n${FORM}\r\ncontent-length: ${40 * MIB}\r\n\r\n`,
  )
  const reply = await connection.reply()
  assert.deepEqual(parseError(reply?.body), { status: 401, msg: 'La clave de API no es válida' })
  for (let sent = 0; sent < 40 * MIB; sent += MIB) await write(connection, Buffer.alloc(MIB, 'a'))
  await assertGoesOn(connection)
})

test('aborted bodies release their memory', async () => {
  // One of ten processes has memory for one large body.
  await using small = await startService({ flags: { workers: '10' } })
  const size = 24 * MIB
  const query = { api: small.domainKey }
  const body = new Uint8Array(31 * MIB).fill(0x61)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  // One is whole, and its sender gone before the answer; the other one is not.
  for (const sent of [size, size - 1]) {
    const connection = await RawConnection.open(small)
    connection.send(`POST ${ADD}?api=${small.domainKey} HTTP/1.1\r\nhost: x\r\n${FORM}\r\n`)
    connection.send(`content-length: ${size}\r\n\r\n`)
    await write(connection, Buffer.alloc(sent, 'a'))
    connection.close()
    // The service hears of the end a moment later. Until then its refusal may close the connection amid the body.
    const isRead = async () => (await call(small, ADD, { query, headers, body })).status === 500
    await eventually(() => isRead().catch(() => false))
  }
})
