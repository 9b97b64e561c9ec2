import assert from 'node:assert/strict'
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { endHold } from '../../src/storage/database/transfer-marks.ts'
import { isDeepStrictEqual } from 'node:util'
import { catalejo, catalejoHere, killedAfter } from '../support/cli.ts'
import { newDatabase, noPostgres } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'
import { succeeds } from './backups.ts'
import { populate, keepWriting, portrait, startHere } from './portrait.ts'

async function getFiles(data: string): Promise<string[]> {
  const entries = await readdir(join(data, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

suite('migrate', { timeout: 400_000 }, () => {
  test(
    'to PostgreSQL and other files, and back: clients see the same, ids continue',
    { skip: noPostgres },
    async () => {
      await using there = await temporaryFolder()
      await using back = await temporaryFolder()
      await using database = await newDatabase()
      await using service = await startHere()
      const keys = await populate(service)
      const before = await portrait(service, keys)
      const to = ['--to-database-url', database.url, '--to-data', there.path]
      const moved = await catalejoHere(['migrate', '--data', service.data, ...to])
      assert.equal(moved.code, 0, moved.stderr)
      assert.match(moved.stdout, /^\d+ rows; 7 images copied \(\S+ MB\), 0 there before\n$/)

      const flags = { 'database-url': database.url }
      const copy = await startHere({ data: there.path, flags })
      try {
        assert.deepEqual(await portrait(copy, keys), before)
        // An account more, and what an application deletes and uploads.
        await copy.newKey('nueva', 'domainwatch')
      } finally {
        await copy.stop()
      }
      // It was served: it is an instance of its own now.
      const again = await catalejoHere(['migrate', '--data', service.data, ...to])
      assert.equal(again.code, 1)
      assert.match(again.stderr, /the target holds the data of another instance/)

      const from = ['--data', there.path, '--database-url', database.url]
      const returned = await catalejoHere(['migrate', ...from, '--to-data', back.path])
      assert.equal(returned.code, 0, returned.stderr)
      await using home = await startHere({ data: back.path })
      const { accounts, ...rest } = before
      assert.deepEqual(await portrait(home, keys), {
        ...rest,
        accounts: [...accounts, 'domainwatch nueva ["full",null,null]'].toSorted(byName),
      })
      await home.newKey('otra más', 'domainwatch')
    },
  )

  test('a killed migration is repeated; an incomplete copy cannot be served', async () => {
    await using there = await temporaryFolder()
    await using service = await startHere()
    const keys = await populate(service, 6_000)
    const before = await portrait(service, keys)
    const args = ['migrate', '--data', service.data, '--to-data', there.path]
    for (const part of ['keys: ', 'image files: ']) {
      await killedAfter(part, args)
      await assert.rejects(startHere({ data: there.path }), /an incomplete copy/)
      // The hold of a killed command expires alone, after minutes.
      await endHold(service.app.context.database)
    }
    assert.match(await succeeds(args), /7 there before\n$/)
    const place = await service.app.context.database.changes.head()
    await using copy = await startHere({ data: there.path })
    assert.deepEqual(await portrait(copy, keys), before)
    // Followers of the source have to start over; its changes are history here, and new ones are followed.
    const { changes } = copy.app.context.database
    assert.deepEqual(await changes.since(place, 10), { kind: 'gap' })
    const head = await changes.head()
    const own = await changes.since(await changes.start(), 100)
    assert.ok(own.kind === 'page' && own.changes.every(({ topic }) => topic !== 'domain'))
    await copy.newKey('nueva', 'domainwatch')
    // On a shared PostgreSQL server, not before the transactions of others that are open have ended.
    await eventually(async () => {
      const page = await changes.since(head, 10)
      const topics = page.kind === 'page' && page.changes.map(({ topic }) => topic)
      return isDeepStrictEqual(topics, ['account', 'key'])
    })
  })

  test('a source that changes meanwhile is reported, and its copy is not served; the next run replaces it', async () => {
    await using there = await temporaryFolder()
    await using service = await startHere()
    const keys = await populate(service)
    const args = ['migrate', '--data', service.data, '--to-data', there.path]
    const writer = keepWriting(service)
    const live = await catalejo(args)
    const written = await writer.stop()
    assert.equal(live.code, 1, live.stdout)
    assert.match(live.stderr, /the source has changed since\. Stop the service and run the command again\n$/)
    await assert.rejects(startHere({ data: there.path }), /an incomplete copy/)

    const [rotten = '', longer = ''] = await getFiles(there.path)
    await writeFile(rotten, 'podrido')
    await appendFile(longer, 'x')
    assert.match(await succeeds(args), /; 2 images copied \(\S+ MB\), 5 there before\n$/)
    // It was never served: it can be replaced again.
    assert.match(await succeeds(args), /; 0 images copied \(\S+ MB\), 7 there before\n$/)
    const before = await portrait(service, keys)
    assert.equal(before.domains.filter(({ name }) => name.startsWith('escrito')).length, written)
    await using copy = await startHere({ data: there.path })
    assert.deepEqual(await portrait(copy, keys), before)
  })

  test('a damaged or missing image of the source is reported, and everything else is copied', async () => {
    await using there = await temporaryFolder()
    await using service = await startHere()
    await populate(service, 10)
    const [rotten = '', lost = ''] = (await getFiles(service.data)).toSorted()
    const bytes = await readFile(rotten)
    bytes[40] = (bytes[40] ?? 0) ^ 1
    await writeFile(rotten, bytes)
    await rm(lost)
    const { code, stderr, stdout } = await catalejoHere([
      'migrate',
      '--data',
      service.data,
      '--to-data',
      there.path,
    ])
    assert.equal(code, 1)
    assert.match(stdout, /5 images copied/)
    const name = (path: string) => path.split('/').at(-1)
    assert.match(
      stderr,
      new RegExp(
        `image ${name(rotten)}: damaged\nimage ${name(lost)}: missing\n|image ${name(lost)}: missing\nimage ${name(rotten)}: damaged\n`,
      ),
    )
  })

  test('invalid targets are rejected', { skip: noPostgres }, async () => {
    await using service = await startHere()
    await populate(service, 10)
    await using other = await startHere()
    const data = ['--data', service.data]
    const refused = async (args: readonly string[], reason: RegExp, exit = 1) => {
      const { code, stderr } = await catalejoHere(['migrate', ...data, ...args])
      assert.equal(code, exit, stderr)
      assert.match(stderr, reason)
    }
    await refused([], /the target is the source/)
    await refused(['--to-data', service.data], /the target is the source/)
    await refused(['--to-data', other.data], /the target holds the data of another instance/)
    await refused(['--to-blobs-url', 'ftp://x'], /--to-blobs-url must be s3:/, 2)
    await refused(['--to-database-url', 'mysql://x'], /--to-database-url must be postgres:/, 2)

    await using database = await newDatabase()
    const creation = ['key', 'create', '--account', 'a', '--service', 'admin']
    await succeeds([...creation, ...data, '--database-url', database.url])
    const same = await catalejoHere([
      'migrate',
      ...data,
      '--database-url',
      database.url,
      '--to-database-url',
      `${database.url}?a=b`,
    ])
    assert.equal(same.code, 1)
    assert.match(same.stderr, /both addresses are of the same database/)
    await other.stop()
    const forced = await catalejoHere(['migrate', ...data, '--to-data', other.data, '--force'])
    assert.equal(forced.code, 0, forced.stderr)
  })

  test('an instance on PostgreSQL can migrate its images alone', { skip: noPostgres }, async () => {
    await using there = await temporaryFolder()
    await using database = await newDatabase()
    // Names in review would be looked up at any time.
    const flags = { 'database-url': database.url, 'blobs-url': '', 'recheck-every': '0' }
    await using service = await startService({ flags })
    const keys = await populate(service, 10)
    const before = await portrait(service, keys)
    const from = ['--data', service.data, '--database-url', database.url]
    const moved = await catalejoHere([
      'migrate',
      ...from,
      '--to-data',
      there.path,
      '--to-database-url',
      database.url,
    ])
    assert.equal(moved.code, 0, moved.stderr)
    assert.match(moved.stdout, /^7 images copied/)
    await using copy = await startService({ data: there.path, flags })
    assert.deepEqual(await portrait(copy, keys), before)
  })
})

/** As keys are listed: by account. */
function byName(a: string, b: string): number {
  const [x = '', y = ''] = [a, b].map((one) => one.slice(one.indexOf(' ') + 1))
  return x < y ? -1 : x > y ? 1 : 0
}
