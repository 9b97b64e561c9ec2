import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { killRounds } from '../support/effort.ts'
import { expectedHash, gradient } from '../support/images.ts'
import { startNode } from '../support/node-process.ts'
import { randomFrom } from '../support/random.ts'
import { startService } from '../support/service.ts'
import { filesUnder } from './folders.ts'
import { getSweeps } from './sweeps.ts'
import { Witness } from './witness.ts'

/** Kills in all, shared by data folders that are worked on at the same time, one for each core of a small machine. */
const ROUNDS = killRounds()
const FOLDERS = 2

async function kills(context: TestContext, lineage: number): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 32)
  context.diagnostic(`seed ${seed}`)
  const random = randomFrom(seed)
  await using founder = await startService()
  const { data } = founder
  const witness = new Witness(await gradient(20, 10).png().toBuffer(), founder)
  await founder.stop()

  for (let round = 0; round < ROUNDS / FOLDERS; round++) {
    await using victim = await startNode({ flags: { data, port: '0', 'image-workers': '1' } })
    await witness.verify(victim.url)
    // A number of answers, not a time, so that a busy machine gets as much done between two kills as an idle one.
    let awaited = Math.floor(random() * 12)
    const first = Promise.withResolvers<void>()
    const enough = Promise.withResolvers<void>()
    const acknowledged = () => {
      first.resolve()
      if (--awaited <= 0) enough.resolve()
    }
    if (awaited === 0) acknowledged()
    const clients = Array.from({ length: 3 }, () => witness.handlePictures(victim.url, random, acknowledged))
    // Decoders take a while to start: batches wait for them, or they would be most of what is written.
    await Promise.race([first.promise, ...clients])
    clients.push(witness.handleBatches(victim.url, `f${lineage}r${round}`))
    await Promise.race([enough.promise, ...clients])
    await pause(random() * 30)
    await victim.kill()
    await Promise.all(clients)
  }

  await using last = await startService({ data })
  await witness.verify(last.url)
  await witness.verify(last.url, true)
  const { pictures, batches } = witness.stored
  context.diagnostic(`${pictures.length} pictures and ${batches.length} batches stored`)
  assert.ok(pictures.length > 0 && batches.length > 0, 'some work was done between the kills')

  // With an age of 0, all that no record holds is taken for a leftover.
  const sweeps = getSweeps(last)
  await sweeps.trash()
  const [staged, orphans] = [await sweeps.staged(0), await sweeps.orphans(0)]
  assert.ok(orphans.kind === 'swept')
  context.diagnostic(`${staged} staged files and ${orphans.removed} blobs left behind by the kills`)
  const hashes = (await filesUnder(join(data, 'blobs'))).map((name) => name.slice(0, 32))
  assert.deepEqual(hashes.toSorted(), pictures.map(({ bytes }) => expectedHash(bytes)).toSorted())
}

suite(
  'kill -9 at any moment loses nothing acknowledged and leaves nothing incomplete',
  { concurrency: FOLDERS },
  () => {
    for (let lineage = 0; lineage < FOLDERS; lineage++) {
      test(`${ROUNDS / FOLDERS} rounds on one data folder`, { timeout: 1_800_000 }, (context) =>
        kills(context, lineage),
      )
    }
  },
)
