import assert from 'node:assert/strict'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { catalejo } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { oldSqlite, UNRELEASED } from '../upgrades/released.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { startService } from '../support/service.ts'

/** Every command that works on an instance that must be there, with words that are right. */
const COMMANDS: readonly (readonly string[])[] = [
  ['verify'],
  ['verify', '--repair'],
  ['backup', 'BACKUPS'],
  ['export'],
  ['changes'],
  ['key', 'list'],
  ['key', 'revoke', 'abc'],
  ['account', 'list'],
  ['account', 'set', 'a', '--delivery', 'open'],
  ['account', 'secret', 'a'],
  ['sign', 'a'.repeat(32), '--account', 'a'],
  ['images', 'export', 'OUT', '--account', 'a'],
  ['images', 'import', 'IN', '--account', 'a'],
  ['migrate', '--to-data', 'TARGET'],
]

/** Runs a command next to `data`. @returns its one line of output */
async function run(words: readonly string[], folder: string, data: string) {
  const args = words.map((word) => (/^[A-Z]+$/.test(word) ? join(folder, word) : word))
  const { code, stdout, stderr } = await catalejo([...args, '--data', data])
  assert.equal(stdout, '')
  const lines = stderr.trimEnd().split('\n')
  assert.equal(lines.length, 1, stderr)
  assert.equal(code, words[0] === 'verify' ? 2 : 1, stderr)
  return lines[0] ?? ''
}

const TOO_OLD =
  'the database is at schema 1, from before release 0.1.0: start it once with commit fdb3bef of Catalejo, ' +
  'which upgrades it to schema 13, then with this version'

suite('commands that need an instance do not create one', { timeout: 240_000 }, () => {
  for (const words of COMMANDS) {
    test(`catalejo ${words.join(' ')}`, async () => {
      await using folder = await temporaryFolder()
      const data = join(folder.path, 'data')
      await mkdir(data)
      const empty = await run(words, folder.path, data)
      assert.ok(empty.endsWith(`there is no database in ${data}`), empty)
      assert.deepEqual(await readdir(folder.path, { recursive: true }), ['data'])
    })
  }

  test('whatever is in place of the database', async () => {
    await using folder = await temporaryFolder()
    const data = join(folder.path, 'data')
    const words = ['key', 'list']
    const missing = await run(words, folder.path, data)
    assert.ok(
      missing.endsWith(`there is no data folder ${data}: name that of the service with --data`),
      missing,
    )
    assert.deepEqual(await readdir(folder.path), [])

    await writeFile(data, 'x')
    const file = await run(words, folder.path, data)
    assert.ok(file.endsWith(`the data folder ${data} is a file`), file)
    await rm(data)

    await mkdir(data)
    await writeFile(join(data, 'catalejo.db'), '')
    const void_ = await run(words, folder.path, data)
    assert.ok(void_.endsWith(`there is no database in ${data}`), void_)

    await rm(join(data, 'catalejo.db'))
    await oldSqlite(UNRELEASED, data)
    const old = await run(words, folder.path, data)
    assert.ok(old.endsWith(TOO_OLD), old)
    assert.equal(schemaOf(data), 1)
  })

  test('key create and import create a database, but not its folder', async () => {
    await using folder = await temporaryFolder()
    const data = join(folder.path, 'data')
    await writeFile(join(folder.path, 'names.txt'), 'uno\n')
    const create = ['key', 'create', '--account', 'a', '--service', 'domainwatch', '--data', data]
    const load = ['import', join(folder.path, 'names.txt'), '--data', data]
    for (const words of [create, load]) {
      const { code, stdout, stderr } = await catalejo(words)
      assert.deepEqual([code, stdout], [1, ''])
      assert.ok(
        stderr.endsWith(`there is no data folder ${data}: name that of the service with --data\n`),
        stderr,
      )
    }
    assert.deepEqual(await readdir(folder.path), ['names.txt'])
    await mkdir(data)
    for (const words of [create, load]) assert.equal((await catalejo(words)).code, 0)
  })

  test('usage errors do not create one either', async () => {
    await using folder = await temporaryFolder()
    for (const words of [['key'], ['key', 'create'], ['key', 'revoke'], ['account'], ['account', 'set']]) {
      assert.equal((await catalejo([...words, '--data', join(folder.path, 'data')])).code, 2)
    }
    assert.deepEqual(await readdir(folder.path), [])
  })

  test('key create and import do not change a database from before the first release', async () => {
    await using folder = await temporaryFolder()
    const create = ['key', 'create', '--account', 'a', '--service', 'domainwatch', '--data', folder.path]
    await writeFile(join(folder.path, 'names.txt'), 'uno\n')
    await oldSqlite(UNRELEASED, folder.path)
    for (const args of [create, ['import', join(folder.path, 'names.txt'), '--data', folder.path]]) {
      const { code, stderr } = await catalejo(args)
      assert.ok(stderr.endsWith(`${TOO_OLD}\n`), stderr)
      assert.equal(code, 1)
      assert.equal(schemaOf(folder.path), 1)
    }
  })

  test('verify exits with 2 if the image folder is missing, and marks no image as lost', async () => {
    await using service = await startService({ flags: { 'database-url': '', 'blobs-url': '' } })
    const client = new ImageClient(service.url, service.imageKey)
    const { body } = await client.upload(await gradient(9, 9).png().toBuffer())
    await service.stop()
    await rm(join(service.data, 'blobs'), { recursive: true })
    const { code, stdout, stderr } = await catalejo(['verify', '--repair', '--data', service.data])
    const folder = join(service.data, 'blobs')
    assert.deepEqual(
      [code, stdout, stderr],
      [
        2,
        '',
        `catalejo: could not verify: there is no image store in ${folder}, but the database has 1 image\n`,
      ],
    )
    using database = new DatabaseSync(join(service.data, 'catalejo.db'), { readOnly: true })
    const key = String(database.prepare('SELECT key FROM blobs').get()?.['key'])
    assert.ok(key.startsWith(`${String(body['hash'])}.`) && !key.endsWith('.lost'), key)
  })
})

function schemaOf(data: string): number {
  using database = new DatabaseSync(join(data, 'catalejo.db'), { readOnly: true })
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}
