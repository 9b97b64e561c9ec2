import { parseError } from '../support/error-codes.ts'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { suite, test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { expectedHash, gradient, stamped } from '../support/images.ts'
import { skipWithout } from '../support/program.ts'
import { RawConnection } from '../support/raw.ts'
import { waitForRecovery, IMAGE_NOT_SAVED, startSingleNode } from './single-node.ts'

const OPEN_FILES = 256
/** Half of the files. */
const CONNECTIONS = OPEN_FILES / 2
const OVERLOADED = { status: 503, msg: 'El servicio está saturado, inténtelo de nuevo' }

const skip = skipWithout('prlimit')

const start = (data: string) =>
  startSingleNode(data, { wrapper: ['prlimit', `--nofile=${OPEN_FILES}:${OPEN_FILES}`] })

/** Opens connections on which nothing happens. */
async function idle(url: string, count: number): Promise<Disposable> {
  const { port, hostname } = new URL(url)
  const sockets = Array.from({ length: count }, (): Socket => connect(Number(port), hostname))
  for (const socket of sockets) socket.on('error', () => {})
  await Promise.all(
    sockets.map((socket) => new Promise<void>((end) => socket.once('connect', end).once('close', end))),
  )
  return {
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

suite('too many open files', { skip, timeout: 300_000 }, () => {
  test('idle connections leave enough for others; surplus ones are closed', async () => {
    await using folder = await temporaryFolder()
    await using place = await start(folder.path)
    const png = await gradient(20, 10).png().toBuffer()
    assert.equal((await place.add('uno')).status, 200)
    // The client keeps these connections, and has enough of them.
    await Promise.all(Array.from({ length: 8 }, () => place.names()))
    {
      using _taken = await idle(place.node.url, CONNECTIONS + 5)
      const newcomer = await RawConnection.open(place.node)
      newcomer.send('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
      await newcomer.closed()
    }
    {
      using _taken = await idle(place.node.url, 3 * OPEN_FILES)
      assert.equal((await place.add('dos')).status, 200)
      for (let index = 0; index < 5; index++) {
        const picture = stamped(png, `foto ${index}`)
        assert.equal((await place.upload(picture)).status, 200)
        await place.expectPicture(picture, true)
      }
      assert.deepEqual((await place.names()).toSorted(), ['dos', 'uno'])
    }
    await waitForRecovery(async () => {
      const newcomer = await RawConnection.open(place.node)
      newcomer.send('GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
      return (await newcomer.reply()) ?? { status: 0 }
    })
  })

  test('without free file descriptors requests get a clear error, nothing is lost, and service recovers', async () => {
    await using folder = await temporaryFolder()
    await using place = await start(folder.path)
    const png = await gradient(20, 10).png().toBuffer()
    const [first, second] = [stamped(png, 'uno'), stamped(png, 'dos')]
    assert.equal((await place.add('uno')).status, 200)
    assert.equal((await place.upload(first)).status, 200)
    // The client keeps these connections, and has enough of them.
    await Promise.all(Array.from({ length: 8 }, () => place.names()))
    const allow = (files: number) =>
      execFileSync('prlimit', [`--pid=${place.node.pid}`, `--nofile=${files}:${OPEN_FILES}`])
    allow(4)
    for (let round = 0; round < 3; round++) {
      assert.equal((await place.add(`dos${round}`)).status, 200)
      // Which comes first, the file for it or the thread that is to read it, is a matter of what runs already.
      const refused = await place.upload(second)
      assert.deepEqual(refused, refused.status === 503 ? { status: 503, body: OVERLOADED } : IMAGE_NOT_SAVED)
      // Bytes that are there already need no file, but a thread, too.
      const held = await place.upload(first)
      if (held.status !== 200) assert.deepEqual(held, { status: 503, body: OVERLOADED })
      const link = await place.images.link(expectedHash(first))
      assert.deepEqual(parseError(await link.text()), OVERLOADED)
      assert.equal((await place.images.get(expectedHash(first))).status, 200)
    }
    allow(OPEN_FILES)
    await waitForRecovery(() => place.upload(second))
    for (const picture of [first, second]) await place.expectPicture(picture, true)
    assert.deepEqual((await place.names()).toSorted(), ['dos0', 'dos1', 'dos2', 'uno'])
  })
})
