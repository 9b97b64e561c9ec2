import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { catalejo, catalejoHere } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { startService } from '../support/service.ts'
import { fill, smallDisk } from '../support/small-disk.ts'

const NO_DISK = process.getuid?.() !== 0 && 'only root may mount a small disk'
const PAGE = 4_096

/** Every command that works on an instance that must be there, with words that are right; capitals are places next to it. */
const ON_AN_INSTANCE: readonly (readonly string[])[] = [
  ['verify'],
  ['verify', '--repair'],
  ['backup', 'BACKUPS'],
  ['export'],
  ['changes'],
  ['key', 'list'],
  ['key', 'revoke', 'abc'],
  ['account', 'list'],
  ['account', 'set', 'imagestore', '--delivery', 'open'],
  ['account', 'secret', 'imagestore', '--new'],
  ['sign', 'a'.repeat(32), '--account', 'imagestore'],
  ['images', 'export', 'OUT', '--account', 'imagestore'],
  ['images', 'import', 'IN', '--account', 'imagestore'],
  ['migrate', '--to-data', 'TARGET'],
]
/** Those that create a database where there is none. */
const CREATING = [
  ['key', 'create', '--account', 'b', '--service', 'domainwatch'],
  ['import', 'NAMES'],
]

interface Said {
  readonly words: string
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs commands on a data folder that cannot be used. */
async function sayAll(commands: readonly (readonly string[])[], data: string, elsewhere: string) {
  await mkdir(join(elsewhere, 'IN'), { recursive: true })
  await writeFile(join(elsewhere, 'IN', 'one.png'), await gradient(9, 9).png().toBuffer())
  await writeFile(join(elsewhere, 'NAMES'), 'uno\n')
  const said: Said[] = []
  for (const words of commands) {
    const args = words.map((word) => (/^[A-Z]+$/.test(word) ? join(elsewhere, word) : word))
    // A service that starts in spite of all would not end here.
    const run = words[0] === 'serve' ? catalejo : catalejoHere
    said.push({ words: words.join(' '), ...(await run([...args, '--data', data])) })
  }
  return said
}

/** One line, or two of `migrate`, which says how to resume; and no stack. */
function assertShort(said: readonly Said[]): void {
  for (const { words, stderr } of said) {
    assert.doesNotMatch(stderr, /\n\s+at |node:internal/, words)
    const lines = stderr.split('\n').filter((line) => line !== '' && !/^\S+: .*(\d+\/s|after \d)/.test(line))
    assert.ok(lines.length <= (words.startsWith('migrate') ? 2 : 1), `${words}: ${stderr}`)
  }
}

async function assertUnusable(
  data: string,
  commands: readonly (readonly string[])[] = [...ON_AN_INSTANCE, ...CREATING],
) {
  await using elsewhere = await temporaryFolder()
  const said = await sayAll(commands, data, elsewhere.path)
  assertShort(said)
  for (const { words, code, stderr } of said)
    assert.equal(code, words.startsWith('verify') ? 2 : 1, `${words}: ${stderr}`)
  return said
}

function assertEnds(said: readonly Said[], reason: string): void {
  for (const { words, stdout, stderr } of said)
    assert.ok(stdout === '' && stderr.endsWith(`${reason}\n`), `${words}: ${stderr}`)
}

/** An instance that nobody uses. */
async function stopped(data: string): Promise<void> {
  const { code } = await catalejoHere([
    'key',
    'create',
    '--account',
    'a',
    '--service',
    'admin',
    '--data',
    data,
  ])
  assert.equal(code, 0)
}

const TOO_OLD =
  'the database is at schema 1, which no release has: if it is older than release 0.1.0, start that once, which upgrades it; ' +
  'else restore a backup of before'

suite('commands report an unusable database in one line', { timeout: 240_000 }, () => {
  test('no database, which they do not create', async () => {
    await using folder = await temporaryFolder()
    const data = join(folder.path, 'data')
    const none = `there is no data folder ${data}: name that of the service with --data`
    assertEnds(await assertUnusable(data), none)
    assert.deepEqual(await readdir(folder.path), [])
    await writeFile(data, 'x')
    assertEnds(await assertUnusable(data, [['key', 'list']]), `the data folder ${data} is a file`)
    await rm(data)
    await mkdir(data)
    assertEnds(await assertUnusable(data, ON_AN_INSTANCE), `there is no database in ${data}`)
    assert.deepEqual(await readdir(folder.path, { recursive: true }), ['data'])
    await writeFile(join(data, 'catalejo.db'), '')
    assertEnds(await assertUnusable(data, [['key', 'list']]), `there is no database in ${data}`)
    await rm(join(data, 'catalejo.db'))
    await using elsewhere = await temporaryFolder()
    for (const { code, stderr } of await sayAll(CREATING, data, elsewhere.path)) assert.equal(code, 0, stderr)
  })

  test('a database of no release, which they do not change', async () => {
    await using folder = await temporaryFolder()
    using database = new DatabaseSync(join(folder.path, 'catalejo.db'))
    database.exec('PRAGMA user_version = 1')
    assertEnds(await assertUnusable(folder.path, [['key', 'list'], ...CREATING]), TOO_OLD)
    assert.equal(database.prepare('PRAGMA user_version').get()?.['user_version'], 1)
    assert.deepEqual(database.prepare('SELECT name FROM sqlite_schema').all(), [])
  })

  test('a damaged first page, and damaged other pages', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'catalejo.db')
    await writeFile(path, 'no database at all'.repeat(1_000))
    const all = [...ON_AN_INSTANCE, ...CREATING, ['serve', '--port', '0']]
    for (const { words, stderr } of await assertUnusable(folder.path, all)) {
      const advice = words.startsWith('verify') ? '' : ': catalejo verify finds what is damaged'
      const line = `${path} is damaged (file is not a database)${advice}\n`
      assert.ok(stderr.includes(line), `${words}: ${stderr}`)
    }
    await rm(path)
    await stopped(folder.path)
    const { size } = await stat(path)
    assert.ok(size > 10 * PAGE)
    const file = await open(path, 'r+')
    await file.write(Buffer.alloc(size - PAGE, 0x5a), 0, null, PAGE)
    await file.close()
    await assertUnusable(folder.path, all)
  })

  test('a read-only disk, and a full one', { skip: NO_DISK }, async (context) => {
    await using readOnly = await smallDisk()
    await using full = await smallDisk()
    if (readOnly === undefined || full === undefined) return context.skip('no disk may be mounted here')
    await stopped(readOnly.path)
    execFileSync('mount', ['-o', 'remount,ro', readOnly.path])
    await assertUnusable(readOnly.path)
    await stopped(full.path)
    await fill(join(full.path, 'filler'))
    await using elsewhere = await temporaryFolder()
    assertShort(await sayAll([...ON_AN_INSTANCE, ...CREATING], full.path, elsewhere.path))
  })

  test('a missing image folder, and verify marks no image as lost', async () => {
    await using service = await startService({ flags: { 'database-url': '', 'blobs-url': '' } })
    const client = new ImageClient(service.url, service.imageKey)
    const { body } = await client.upload(await gradient(9, 9).png().toBuffer())
    await service.stop()
    const folder = join(service.data, 'blobs')
    await rm(folder, { recursive: true })
    assert.deepEqual(await catalejoHere(['verify', '--repair', '--data', service.data]), {
      code: 2,
      stdout: '',
      stderr: `catalejo: could not verify: there is no image store in ${folder}, but the database has 1 image\n`,
    })
    using database = new DatabaseSync(join(service.data, 'catalejo.db'), { readOnly: true })
    const key = String(database.prepare('SELECT key FROM blobs').get()?.['key'])
    assert.ok(key.startsWith(`${String(body['hash'])}.`) && !key.endsWith('.lost'), key)
  })
})
