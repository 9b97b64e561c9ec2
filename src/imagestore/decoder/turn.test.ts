import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../../test/support/eventually.ts'
import { claim } from '../derivatives/claim.ts'
import { createImageEngine, type ImageEngine } from './index.ts'
import { takeTicket } from './tickets.ts'
import { turnBy, type Turn } from './turn.ts'

const image = fileURLToPath(new URL('../../../test/fixtures/dhash/rgb.png', import.meta.url))

/** An engine for which every image is too large to be decoded beside others. */
const small = (turn: Turn) =>
  createImageEngine({ workers: 1, memoryBudget: 1, largestJob: 100 * 1024 * 1024, turn })

async function closing(engines: readonly ImageEngine[], body: () => Promise<void>): Promise<void> {
  try {
    await body()
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
  }
}

test('what is too large for a share of the memory is decoded in turn with other processes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-turn-'))
  const path = join(folder, 'heavy')
  const turn = turnBy(
    () => claim(path),
    () => takeTicket(join(folder, 'turns')),
  )
  const [one, other] = [small(turn), small(turn)]
  await closing([one, other], async () => {
    const giveUp = await claim(path)
    assert.ok(giveUp !== undefined)
    const stop = new AbortController()
    let settled = 0
    const leaves = one.inspect(image, stop.signal).finally(() => settled++)
    const stays = other.inspect(image).finally(() => settled++)
    await eventually(() => one.stats().running + other.stats().running === 2, 'both are in their children')
    assert.equal(settled, 0)
    stop.abort()
    assert.deepEqual(await leaves, { kind: 'aborted' })
    assert.equal(settled, 1)
    await giveUp()
    assert.equal((await stays).kind, 'image')
    assert.equal((await one.inspect(image)).kind, 'image')
    await eventually(async () => (await claim(path)) !== undefined, 'the turn was given up')
  })
  await rm(folder, { recursive: true })
})

test('turns are taken in the order of the tickets, whoever looks more often', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-turn-'))
  const path = join(folder, 'heavy')
  const turns = join(folder, 'turns')
  // A ticket of a process that has ended holds nobody up.
  await mkdir(turns)
  await writeFile(join(turns, '000000000000001-ended'), '999999999')
  const busy = await claim(path)
  const turn = turnBy(
    () => claim(path),
    () => takeTicket(turns),
  )
  const order: number[] = []
  const all: Promise<void>[] = []
  for (const number of [1, 2, 3, 4]) {
    const mine = turn(new AbortController().signal).then(async (giveUp) => {
      order.push(number)
      await giveUp?.()
    })
    all.push(mine)
    await eventually(
      async () => (await readdir(turns)).filter((name) => !name.endsWith('ended')).length === number,
      'its ticket is there',
    )
    // Places are by time, to the millisecond.
    const now = Date.now()
    while (Date.now() === now) await new Promise(setImmediate)
  }
  await busy?.()
  await Promise.all(all)
  assert.deepEqual(order, [1, 2, 3, 4])
  await eventually(async () => (await readdir(turns)).length === 0, 'no ticket is left')
  await rm(folder, { recursive: true })
})

test('where no turns can be taken none is waited for', async () => {
  const noSuchFolder = () => Promise.reject(new Error('no such folder'))
  const engine = small(turnBy(noSuchFolder, noSuchFolder))
  await closing([engine], async () => assert.equal((await engine.inspect(image)).kind, 'image'))
})
