import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Asking } from '../soak/asking.ts'
import { Domains } from '../soak/domains.ts'
import { Pictures } from '../soak/pictures.ts'
import { runTraffic } from '../soak/traffic.ts'
import { verify } from '../soak/verify.ts'
import { killRounds } from '../support/effort.ts'
import { eventually } from '../support/eventually.ts'
import { startNode } from '../support/node-process.ts'
import { randomFrom } from '../support/random.ts'
import { startService } from '../support/service.ts'
import { filesUnder } from './folders.ts'
import { getSweeps } from './sweeps.ts'

/** Kills in all, shared by data folders that are worked on at the same time, one for each core of a small machine. */
const ROUNDS = killRounds()
const FOLDERS = 2
/** Records in a batch: enough that a kill can fall into the middle of one. */
const BATCH = 100
/** What is acknowledged counts here, not how soon. */
const ANSWER_MS = 120_000

async function kills(context: TestContext): Promise<void> {
  const seed = Math.floor(Math.random() * 1_000_000)
  context.diagnostic(`seed ${seed}`)
  const random = randomFrom(seed)
  await using founder = await startService()
  const { data, imageKey, domainKey } = founder
  const other = await founder.newKey('diario', 'imagestore')
  await founder.stop()
  const asking = new Asking((line) => context.diagnostic(line), ANSWER_MS)
  const pictures = await Pictures.open(asking, 0)
  const domains = new Domains(asking, domainKey, 0, BATCH)
  const journal = { asking, domains, pictures }

  let verified = { groups: 0, pictures: 0 }
  for (let round = 0; round < ROUNDS / FOLDERS; round++) {
    await using victim = await startNode({ flags: { data, port: '0', 'image-workers': '1' } })
    // Nothing of earlier rounds was written to since it was verified.
    await verify(victim.url, journal, {
      groups: domains.all.slice(verified.groups),
      pictures: pictures.all.slice(verified.pictures),
    })
    verified = { groups: domains.all.length, pictures: pictures.all.length }
    const stopping = new AbortController()
    const traffic = runTraffic({
      url: victim.url,
      seed: seed + round,
      pictures,
      domains,
      imageKeys: [imageKey, other.key],
      signal: stopping.signal,
    })
    // A number of answers, not a time, so that a busy machine gets as much done between two kills as an idle one.
    const enough = asking.acknowledged + 1 + Math.floor(random() * 6)
    await eventually(() => asking.acknowledged >= enough, 'pictures are acknowledged')
    await pause(random() * 30)
    const killed = asking.kill(victim)
    stopping.abort()
    await Promise.all([killed, traffic])
  }

  await using last = await startService({ data })
  const stored = await verify(last.url, journal)
  assert.deepEqual(asking.violations, [])
  context.diagnostic(
    `${stored.length} pictures stored, ${asking.acknowledged} uploads and deletions acknowledged`,
  )
  assert.ok(stored.length > 0 && domains.all.length > 0, 'some work was done between the kills')

  // With an age of 0, all that no record holds is taken for a leftover.
  const sweeps = getSweeps(last)
  await sweeps.trash()
  const [staged, orphans] = [await sweeps.staged(0), await sweeps.orphans(0)]
  assert.ok(orphans.kind === 'swept')
  context.diagnostic(`${staged} staged files and ${orphans.removed} blobs left behind by the kills`)
  const hashes = (await filesUnder(join(data, 'blobs'))).map((name) => name.slice(0, 32))
  assert.deepEqual(hashes.toSorted(), stored.map(({ hash }) => hash).toSorted())
}

suite(
  'kill -9 at any moment loses nothing acknowledged and leaves nothing incomplete',
  { concurrency: FOLDERS },
  () => {
    for (let folder = 1; folder <= FOLDERS; folder++)
      test(`${ROUNDS / FOLDERS} rounds on data folder ${folder}`, { timeout: 1_800_000 }, kills)
  },
)
