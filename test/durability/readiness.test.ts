import assert from 'node:assert/strict'
import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, noise } from '../support/images.ts'
import { fill, smallDisk } from '../support/small-disk.ts'
import { BATCH_NOT_SAVED, IMAGE_NOT_SAVED, startSingleNode, type SingleNode } from './single-node.ts'

const notRoot = process.getuid?.() !== 0 && 'only root may mount a small disk'
const PAGE = 4_096
const FAST_TIME = fileURLToPath(new URL('../support/fast-time.ts', import.meta.url))
const DAMAGED = 'catalejo verify finds what is damaged'

const readyz = async ({ node }: SingleNode) => (await fetch(`${node.url}/readyz`)).status

const start = (data: string) => startSingleNode(data, { runtimeFlags: ['--import', FAST_TIME] })

/** Waits for the next probes, which are seconds apart. */
async function untilReadyz(place: SingleNode, status: number): Promise<void> {
  process.kill(place.node.pid, 'SIGUSR2')
  await eventually(async () => (await readyz(place)) === status, `/readyz is ${status}`)
}

/** Lines of its log at error level that say what is wrong. */
const explained = (place: SingleNode, text: string) =>
  place.node
    .log()
    .split('\n')
    .filter((line) => line.includes('"level":50') && line.includes('"part":"') && line.includes(text))

/** Overwrites all pages but the first with what is none. @returns puts them back */
async function damage(path: string): Promise<() => Promise<void>> {
  const whole = await readFile(path)
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(whole.length - PAGE, 0x5a), 0, null, PAGE)
  await file.close()
  return async () => {
    const again = await open(path, 'r+')
    await again.write(whole, 0, null, 0)
    await again.close()
  }
}

/** Overwrites the pages of a database, which nobody uses, that contain a text. @returns puts them back */
async function damagePagesWith(path: string, text: string): Promise<() => Promise<void>> {
  {
    // Moves the log into the file.
    using database = new DatabaseSync(path)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  }
  const whole = await readFile(path)
  const places = Array.from({ length: whole.length / PAGE }, (_, page) => page * PAGE).filter((at) =>
    whole.subarray(at, at + PAGE).includes(text),
  )
  async function write(bytesAt: (at: number) => Buffer) {
    await using file = await open(path, 'r+')
    for (const at of places) await file.write(bytesAt(at), 0, PAGE, at)
  }
  await write(() => Buffer.alloc(PAGE, 0x5a))
  return () => write((at) => whole.subarray(at, at + PAGE))
}

suite('/readyz reflects failures of requests', { timeout: 900_000 }, () => {
  test('a damaged database is not ready, is explained once in the log, and is ready again once it is whole', async () => {
    await using folder = await temporaryFolder()
    await using place = await start(folder.path)
    for (let batch = 0; batch < 10; batch++) {
      const names = Array.from({ length: 400 }, (_, index) => `nombre${batch}x${index}`)
      assert.equal((await place.add(...names)).status, 200)
    }
    assert.equal(await readyz(place), 200)
    const heal = await damage(join(folder.path, 'catalejo.db'))
    await eventually(async () => (await place.add('otro')).status === 500, 'a request meets the damage')
    for (let round = 0; round < 5; round++) {
      assert.equal(await readyz(place), 503)
      await place.add(`otro${round}`)
    }
    await eventually(() => explained(place, DAMAGED).length > 0, 'the log')
    assert.equal(explained(place, DAMAGED).length, 1)
    await heal()
    await untilReadyz(place, 200)
  })

  test('a database with one damaged page refuses all writes until it is whole', async () => {
    await using folder = await temporaryFolder()
    {
      await using place = await start(folder.path)
      const names = Array.from({ length: 4_000 }, (_, index) => `nombre${index}`)
      assert.equal((await place.add(...names)).status, 200)
    }
    const heal = await damagePagesWith(join(folder.path, 'catalejo.db'), 'nombre2000')
    await using place = await start(folder.path)
    await eventually(async () => (await readyz(place)) === 503, 'a read meets the damage')
    assert.deepEqual((await place.list()).body, { status: 500, msg: 'Error interno del servicio' })
    // They would touch other pages only.
    assert.deepEqual(await place.add('zorro'), BATCH_NOT_SAVED)
    assert.deepEqual(await place.update('nombre999'), BATCH_NOT_SAVED)
    assert.deepEqual(await place.upload(await gradient(20, 10).png().toBuffer()), IMAGE_NOT_SAVED)
    await heal()
    await untilReadyz(place, 200)
    assert.equal((await place.add('zorro')).status, 200)
  })

  test(
    'a disk on which every write fails is not ready, even if nobody writes, and a failed write shows immediately',
    { skip: notRoot },
    async (context) => {
      await using disk = await smallDisk()
      if (disk === undefined) return context.skip('no disk may be mounted here')
      const filler = join(disk.path, 'filler')
      await using place = await start(disk.path)
      assert.equal((await place.add('uno')).status, 200)
      assert.equal(await readyz(place), 200)
      await fill(filler)
      await untilReadyz(place, 503)
      await rm(filler)
      await untilReadyz(place, 200)
      await fill(filler)
      assert.equal((await place.upload(await noise(300, 300).png().toBuffer())).status, 500)
      assert.equal(await readyz(place), 503)
      await eventually(() => explained(place, 'ENOSPC').length > 0, 'the log')
    },
  )
})
