import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { OverloadError } from '../../src/lib/errors.ts'
import { eventually } from '../support/eventually.ts'
import { FASTER } from '../support/fast-time.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, stamped } from '../support/images.ts'
import { skipWithout } from '../support/program.ts'
import { BATCH_NOT_SAVED, waitForRecovery, IMAGE_NOT_SAVED, startSingleNode } from './single-node.ts'

const FAST_TIME = fileURLToPath(new URL('../support/fast-time.ts', import.meta.url))
/** Longer than the service waits for a statement, a minute of its time. */
const HANG_MS = (60_000 / FASTER) * 1.5

/**
 * Changes what the flushes of a process do from now on.
 * @param how what strace injects
 * @returns ends that; undefined where no process may be traced
 */
async function changeFlushes(pid: number, how: string): Promise<(() => Promise<void>) | undefined> {
  const calls = 'fsync,fdatasync,sync_file_range,msync'
  const words = ['-f', '-e', `trace=${calls}`, '-e', `inject=${calls}:${how}`, '-o', '/dev/null']
  const tracer = spawn('strace', [...words, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = once(tracer, 'exit')
  for await (const line of createInterface({ input: tracer.stderr })) {
    if (line.includes('attached')) {
      tracer.stderr.resume()
      return async () => {
        tracer.kill('SIGINT')
        await exited
      }
    }
  }
  return undefined
}

const skip = skipWithout('strace')

suite('a disk that cannot flush', { skip, timeout: 300_000 }, () => {
  test('acknowledges only durable writes, serves reads, and accepts writes again', async (context) => {
    await using folder = await temporaryFolder()
    const png = await gradient(20, 10).png().toBuffer()
    const [first, second, third] = ['uno', 'dos', 'tres'].map((text) => stamped(png, text))
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    {
      await using place = await startSingleNode(folder.path)
      assert.equal((await place.add('uno')).status, 200)
      for (const picture of [first, second]) assert.equal((await place.upload(picture)).status, 200)
      const cure = await changeFlushes(place.node.pid, 'error=EIO')
      if (cure === undefined) return context.skip('no process may be traced here')
      try {
        for (let round = 0; round < 5; round++) {
          assert.deepEqual(await place.add(`nunca${round}`, 'uno'), BATCH_NOT_SAVED)
          assert.deepEqual(await place.update('uno'), BATCH_NOT_SAVED)
          assert.deepEqual(await place.upload(third), IMAGE_NOT_SAVED)
          // Bytes that are there already need a record all the same.
          assert.deepEqual(await place.upload(first), IMAGE_NOT_SAVED)
          assert.equal((await place.remove(first)).status, 500)
          assert.deepEqual(await place.names(), ['uno'])
          for (const picture of [first, second]) await place.expectPicture(picture, true)
          await place.expectPicture(third, false)
        }
      } finally {
        await cure()
      }
      await waitForRecovery(() => place.add('dos'))
      await waitForRecovery(() => place.upload(third))
      await waitForRecovery(() => place.remove(second))
      assert.deepEqual((await place.names()).toSorted(), ['dos', 'uno'])
    }
    // It was ended by `kill -9`. What was refused was written over by what came after it.
    await using again = await startSingleNode(folder.path)
    assert.deepEqual((await again.names()).toSorted(), ['dos', 'uno'])
    for (const picture of [first, third]) await again.expectPicture(picture, true)
    await again.expectPicture(second, false)
  })

  test('a commit without an answer is a 503: it may be stored later, and sending it again is safe', async (context) => {
    await using folder = await temporaryFolder()
    await using place = await startSingleNode(folder.path, { runtimeFlags: ['--import', FAST_TIME] })
    assert.equal((await place.add('uno')).status, 200)
    process.kill(place.node.pid, 'SIGUSR2')
    await eventually(() => place.node.log().includes('time is fast'))
    const cure = await changeFlushes(place.node.pid, `delay_enter=${1_000 * HANG_MS}`)
    if (cure === undefined) return context.skip('no process may be traced here')
    try {
      const { status, body } = await place.add('dos')
      assert.equal(status, 503)
      assert.partialDeepStrictEqual(body, { status: 503, msg: new OverloadError().message })
      await eventually(async () => (await place.names()).includes('dos'), 'the commit ends')
    } finally {
      await cure()
    }
    await waitForRecovery(() => place.add('dos', 'tres'))
    assert.deepEqual((await place.names()).toSorted(), ['dos', 'tres', 'uno'])
  })
})
