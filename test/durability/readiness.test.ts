import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { catalejo } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, noise } from '../support/images.ts'
import { fill, smallDisk } from '../support/small-disk.ts'
import { BATCH_NOT_SAVED, IMAGE_NOT_SAVED, startSingleNode, type SingleNode } from './single-node.ts'

const notRoot = process.getuid?.() !== 0 && 'only root may mount a small disk'
const PAGE = 4_096
const DAMAGED = 'catalejo verify finds what is damaged'

const readyz = async ({ node }: SingleNode) => (await fetch(`${node.url}/readyz`)).status

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
    await using place = await startSingleNode(folder.path)
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
    await eventually(async () => (await readyz(place)) === 200, 'it is ready again')
  })

  test('a database with one damaged page refuses all writes until it is whole', async () => {
    await using folder = await temporaryFolder()
    {
      await using place = await startSingleNode(folder.path)
      const names = Array.from({ length: 4_000 }, (_, index) => `nombre${index}`)
      assert.equal((await place.add(...names)).status, 200)
    }
    const heal = await damagePagesWith(join(folder.path, 'catalejo.db'), 'nombre2000')
    await using place = await startSingleNode(folder.path)
    await eventually(async () => (await readyz(place)) === 503, 'a read meets the damage')
    assert.deepEqual((await place.list()).body, { status: 500, msg: 'Error interno del servicio' })
    // They would touch other pages only.
    assert.deepEqual(await place.add('zorro'), BATCH_NOT_SAVED)
    assert.deepEqual(await place.update('nombre999'), BATCH_NOT_SAVED)
    assert.deepEqual(await place.upload(await gradient(20, 10).png().toBuffer()), IMAGE_NOT_SAVED)
    await heal()
    await eventually(async () => (await readyz(place)) === 200, 'it is ready again')
    assert.equal((await place.add('zorro')).status, 200)
  })

  test(
    'a disk on which every write fails is not ready, even if nobody writes',
    { skip: notRoot },
    async (context) => {
      await using disk = await smallDisk()
      if (disk === undefined) return context.skip('no disk may be mounted here')
      await using place = await startSingleNode(disk.path)
      assert.equal((await place.add('uno')).status, 200)
      assert.equal(await readyz(place), 200)
      await fill(join(disk.path, 'filler'))
      await eventually(async () => (await readyz(place)) === 503, 'the probe finds out')
      await rm(join(disk.path, 'filler'))
      await eventually(async () => (await readyz(place)) === 200, 'it is ready again')
    },
  )

  test('a failed write shows immediately', { skip: notRoot }, async (context) => {
    await using disk = await smallDisk()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    await using place = await startSingleNode(disk.path)
    assert.equal((await place.add('uno')).status, 200)
    await fill(join(disk.path, 'filler'))
    assert.equal((await place.upload(await noise(300, 300).png().toBuffer())).status, 500)
    assert.equal(await readyz(place), 503)
    await eventually(() => explained(place, 'ENOSPC').length === 1, 'the log')
  })
})

/** Every command, with words that are right. */
const COMMANDS: readonly (readonly string[])[] = [
  ['verify'],
  ['backup', 'BACKUPS'],
  ['export'],
  ['changes'],
  ['key', 'list'],
  ['key', 'create', '--account', 'b', '--service', 'imagestore'],
  ['key', 'revoke', 'abc'],
  ['account', 'list'],
  ['account', 'set', 'imagestore', '--delivery', 'open'],
  ['account', 'secret', 'imagestore', '--new'],
  ['sign', 'a'.repeat(32), '--account', 'imagestore'],
  ['images', 'export', 'OUT', '--account', 'imagestore'],
  ['images', 'import', 'IN', '--account', 'imagestore'],
  ['import', 'NAMES'],
  ['migrate', '--to-data', 'TARGET'],
  ['serve', '--port', '0'],
]

/** Runs every command on a data folder that cannot be used. @returns what each said, and its exit code */
async function sayAll(data: string, elsewhere: string) {
  await mkdir(join(elsewhere, 'IN'), { recursive: true })
  await writeFile(join(elsewhere, 'IN', 'one.png'), await gradient(9, 9).png().toBuffer())
  await writeFile(join(elsewhere, 'NAMES'), 'uno\n')
  const said: { words: string; code: number | null; stderr: string }[] = []
  for (const words of COMMANDS) {
    const args = words.map((word) => (/^[A-Z]+$/.test(word) ? join(elsewhere, word) : word))
    const { code, stderr } = await catalejo([...args, '--data', data])
    said.push({ words: words.join(' '), code, stderr })
  }
  return said
}

/** One line, or two of `migrate`, which says how to resume; and no stack. */
function assertShort(said: Awaited<ReturnType<typeof sayAll>>): void {
  for (const { words, stderr } of said) {
    assert.doesNotMatch(stderr, /\n\s+at |node:internal/, words)
    const lines = stderr.split('\n').filter((line) => line !== '' && !/^\S+: .*(\d+\/s|after \d)/.test(line))
    assert.ok(lines.length <= (words.startsWith('migrate') ? 2 : 1), `${words}: ${stderr}`)
  }
}

/** An instance with a record that nobody uses. */
async function stopped(data: string): Promise<void> {
  await using place = await startSingleNode(data)
  assert.equal((await place.add('uno')).status, 200)
  await place.node.stop()
}

async function assertUnusable(data: string) {
  await using elsewhere = await temporaryFolder()
  const said = await sayAll(data, elsewhere.path)
  assertShort(said)
  for (const { words, code, stderr } of said)
    assert.equal(code, words === 'verify' ? 2 : 1, `${words}: ${stderr}`)
  return said
}

suite('commands report an unusable database in one line', { timeout: 900_000 }, () => {
  test('a damaged first page', async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'catalejo.db'), 'no database at all'.repeat(1_000))
    for (const { words, stderr } of await assertUnusable(folder.path)) {
      const advice = words === 'verify' ? '' : ': catalejo verify finds what is damaged'
      const line = `${join(folder.path, 'catalejo.db')} is damaged (file is not a database)${advice}\n`
      assert.ok(stderr.includes(line), `${words}: ${stderr}`)
    }
  })

  test('damaged other pages', async () => {
    await using folder = await temporaryFolder()
    await stopped(folder.path)
    assert.ok((await stat(join(folder.path, 'catalejo.db'))).size > 10 * PAGE)
    await damage(join(folder.path, 'catalejo.db'))
    await assertUnusable(folder.path)
  })

  test('a read-only disk', { skip: notRoot }, async (context) => {
    await using disk = await smallDisk()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    await stopped(disk.path)
    execFileSync('mount', ['-o', 'remount,ro', disk.path])
    await assertUnusable(disk.path)
  })

  test('a full disk', { skip: notRoot }, async (context) => {
    await using disk = await smallDisk()
    await using elsewhere = await temporaryFolder()
    if (disk === undefined) return context.skip('no disk may be mounted here')
    await stopped(disk.path)
    await fill(join(disk.path, 'filler'))
    assertShort((await sayAll(disk.path, elsewhere.path)).filter(({ words }) => !words.startsWith('serve')))
  })
})
