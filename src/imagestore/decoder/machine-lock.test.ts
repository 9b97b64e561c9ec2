import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../../test/support/eventually.ts'
import { acquireLockFile } from '../../lib/lock-file.ts'
import { createImageEngine, type ImageEngine } from './index.ts'
import { machineLock, type AcquireMachineLock } from './machine-lock.ts'

const image = fileURLToPath(new URL('../../../test/fixtures/dhash/rgb.png', import.meta.url))

/** An engine for which every image exceeds the memory. */
const small = (acquireTurn: AcquireMachineLock) =>
  createImageEngine({ workers: 1, memoryBudget: 1, largestJob: 100 * 1024 * 1024, acquireTurn })

async function closing(engines: readonly ImageEngine[], body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
  }
}

test('jobs that exceed the memory of a process run in turn with other processes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-turn-'))
  const path = join(folder, 'heavy')
  const turn = machineLock(folder)
  const [one, other] = [small(turn), small(turn)]
  await closing([one, other], async () => {
    const release = await acquireLockFile(path)
    assert.ok(release !== undefined)
    const stop = new AbortController()
    let settled = 0
    const leaves = one.inspect(image, stop.signal).finally(() => settled++)
    const stays = other.inspect(image).finally(() => settled++)
    await eventually(() => one.stats().running + other.stats().running === 2, 'both run')
    assert.equal(settled, 0)
    stop.abort()
    assert.deepEqual(await leaves, { kind: 'aborted' })
    assert.equal(settled, 1)
    await release()
    assert.equal((await stays).kind, 'image')
    assert.equal((await one.inspect(image)).kind, 'image')
    await eventually(async () => (await acquireLockFile(path)) !== undefined, 'the turn has ended')
  })
  await rm(folder, { recursive: true })
})

test('turns are taken in order of arrival', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-turn-'))
  const path = join(folder, 'heavy')
  const turns = join(folder, 'turns')
  // The ticket of a process that has ended is ignored.
  await mkdir(turns)
  await writeFile(join(turns, '000000000000001-ended'), '999999999')
  const busy = await acquireLockFile(path)
  const acquireTurn = machineLock(folder)
  const order: number[] = []
  const all: Promise<void>[] = []
  for (const number of [1, 2, 3, 4]) {
    const mine = acquireTurn(new AbortController().signal).then(async (release) => {
      order.push(number)
      await release?.()
    })
    all.push(mine)
    await eventually(
      async () => (await readdir(turns)).filter((name) => !name.endsWith('ended')).length === number,
      'the ticket exists',
    )
    // Tickets are sorted by time, in milliseconds.
    const now = Date.now()
    while (Date.now() === now) await new Promise(setImmediate)
  }
  await busy?.()
  await Promise.all(all)
  assert.deepEqual(order, [1, 2, 3, 4])
  await eventually(async () => (await readdir(turns)).length === 0, 'no ticket is left')
  await rm(folder, { recursive: true })
})

test('without a writable folder nobody waits', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-turn-'))
  await writeFile(join(folder, 'file'), '')
  const engine = small(machineLock(join(folder, 'file')))
  await closing([engine], async () => assert.equal((await engine.inspect(image)).kind, 'image'))
  await rm(folder, { recursive: true })
})
