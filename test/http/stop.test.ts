import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { ImageClient, noise } from '../support/images.ts'
import { RawConnection } from '../support/raw.ts'
import { startService, type TestService } from '../support/service.ts'

/** Longer than any of these tests takes, and shorter than idle connections stay open. */
const TIMEOUT = { timeout: 100_000 }

/** Keeps connections that are still open after seven seconds, which may be too few on a busy machine. */
function keepConnections(t: TestContext, { app }: TestService): void {
  t.mock.method(app.server.server, 'closeAllConnections', () => {})
}

test('responses to a slow reader complete although the service stops', TIMEOUT, async (t) => {
  await using service = await startService()
  keepConnections(t, service)
  const images = new ImageClient(service.url, service.imageKey)
  const { body } = await images.upload(await noise(700, 700).png().toBuffer())
  const connection = await RawConnection.open(service)
  connection.socket.pause()
  // Some 23 MB: more than the buffers of both ends hold.
  const count = 16
  connection.send(`GET /i/${String(body['hash'])} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(count))
  await once(service.app.server.server, 'request')
  const stopped = service.stop()
  connection.socket.resume()
  for (let i = 0; i < count; i++) assert.equal((await connection.reply())?.status, 200, `answer ${i}`)
  await connection.closed()
  await stopped
})

test('a connection closes with its last answer, not with its keep-alive time', TIMEOUT, async (t) => {
  await using service = await startService()
  keepConnections(t, service)
  const idle = await RawConnection.open(service)
  idle.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  assert.equal((await idle.reply())?.status, 200)
  await service.stop()
  await idle.closed()
})
