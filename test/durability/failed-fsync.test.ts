import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, stamped } from '../support/images.ts'
import { BATCH_NOT_SAVED, waitForRecovery, IMAGE_NOT_SAVED, startSingleNode } from './single-node.ts'

/** Makes flushes of a process fail from now on. @returns ends that; undefined where no process may be traced */
async function failFlushes(pid: number): Promise<(() => Promise<void>) | undefined> {
  const calls = 'fsync,fdatasync,sync_file_range,msync'
  const words = ['-f', '-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO`, '-o', '/dev/null']
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

const skip = spawnSync('strace', ['-V'], { stdio: 'ignore' }).error !== undefined && 'not installed: strace'

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
      const cure = await failFlushes(place.node.pid)
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
})
