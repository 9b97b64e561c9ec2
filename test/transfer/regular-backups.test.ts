import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { catalejoHere } from '../support/cli.ts'
import { stored, record, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { ManualClock } from '../support/service.ts'
import { filesUnder, flip, nameOf, succeeds } from './backups.ts'
import { populate, startHere } from './portrait.ts'

const HOUR = 3_600_000

const snapshotsIn = async (place: string) => (await filesUnder(join(place, 'manifests'))).map(nameOf)

suite('regular backups', { timeout: 400_000 }, () => {
  test('a snapshot sorts after one that a clock made that was ahead', async () => {
    await using service = await startHere()
    await using place = await temporaryFolder()
    const settings = ['--data', service.data, '--backup-to', place.path]
    await succeeds(['backup', 'create', ...settings])
    const [manifest = ''] = await filesUnder(join(place.path, 'manifests'))
    const { sha256: _old, ...value } = JSON.parse(await readFile(manifest, 'utf8'))
    const text = JSON.stringify({ ...value, name: '20991231T235959999Z' })
    await rm(manifest)
    const ahead = join(dirname(manifest), '20991231T235959999Z.json')
    await writeFile(ahead, `${text.slice(0, -1)},"sha256":"${hash('sha256', text)}"}\n`)
    await succeeds(['backup', 'create', ...settings])
    assert.deepEqual((await snapshotsIn(place.path)).toSorted(), [
      '20991231T235959999Z.json',
      '21000101T000000000Z.json',
    ])
    assert.match(await succeeds(['backup', 'check', ...settings]), /^snapshot 21000101T000000000Z: \d+ rows/)
  })

  test('list, check and drill use the place of --backup-to, and are measured', async () => {
    await using service = await startHere()
    await using place = await temporaryFolder()
    await populate(service, 50)
    const settings = ['--data', service.data, '--backup-to', place.path, '--backup-keep', '1']
    const metrics = async () =>
      [...(await call(service, '/metrics')).text.matchAll(/^catalejo_backup_success\{kind="(\w+)"\} (\d)$/gm)]
        .map(([, kind, value]) => `${kind} ${value}`)
        .toSorted()
    assert.deepEqual(await metrics(), [])
    await succeeds(['backup', 'create', ...settings])
    assert.match(await succeeds(['backup', ...settings]), /\nremoved 1 snapshot, \d+ files, 0 images\n$/)
    const [manifest = ''] = await snapshotsIn(place.path)
    const name = manifest.replace('.json', '')
    const [header, line, end] = (await succeeds(['backup', 'list', ...settings])).split('\n')
    assert.deepEqual(
      [header, line?.split('\t')[0], line?.split('\t').slice(3), end],
      ['SNAPSHOT\tVERSION\tROWS\tIMAGES\tBYTES', name, ['7', String(7 * 469)], ''],
    )
    assert.match(
      await succeeds(['backup', 'check', ...settings]),
      new RegExp(`^snapshot ${name}: \\d+ rows and 7 images of ${7 * 469} bytes are whole\\n$`),
    )
    // What changes later is not compared.
    await stored(service, [record('nombre3', { status: 0 }), record('posterior')])
    assert.equal((await update(service, [{ domain: 'nombre6', note: 'nueva' }])).status, 200)
    assert.match(
      await succeeds(['backup', 'drill', ...settings]),
      /: \d+ rows restored; 0 records and 7 images compared; 52 records left out that changed less than a minute before it, or since\n$/,
    )
    assert.deepEqual(await metrics(), ['backup 1', 'check 1', 'drill 1'])

    const [image = ''] = await filesUnder(join(place.path, 'images'))
    await flip(image)
    const checked = await catalejoHere(['backup', 'check', ...settings])
    assert.deepEqual([checked.code, checked.stdout], [1, ''])
    assert.ok(checked.stderr.includes(`snapshot ${name}: image ${nameOf(image)} is damaged\n`))
    assert.ok(checked.stderr.endsWith(`catalejo: snapshot ${name} has 1 fault\n`))
    assert.equal((await catalejoHere(['backup', 'drill', ...settings])).code, 1)
    assert.deepEqual(await metrics(), ['backup 1', 'check 0', 'drill 0'])
    // A place of another name is not that of the regular backups.
    assert.equal((await catalejoHere(['backup', 'check', place.path, '--data', service.data])).code, 1)
    assert.equal((await catalejoHere(['backup', 'check', '--data', service.data])).code, 2)
  })

  test('a drill finds a record and an image that differ', async () => {
    await using service = await startHere()
    await using place = await temporaryFolder()
    await populate(service, 50)
    const args = [place.path, '--data', service.data]
    // The records are older than the snapshot by more than clocks differ.
    await service.sql('UPDATE changes SET at = at - 120000')
    await succeeds(['backup', 'create', ...args])
    assert.match(await succeeds(['backup', 'drill', ...args]), /; 52 records and 7 images compared\n$/)
    await service.sql('DROP TRIGGER domains_changed')
    await service.sql(`UPDATE domains SET note = 'otra' WHERE name = 'nombre7'`)
    const [own = ''] = (await filesUnder(join(service.data, 'blobs'))).filter(
      (path) => nameOf(path) !== 'owner',
    )
    await rm(own)
    const { code, stderr } = await catalejoHere(['backup', 'drill', ...args])
    assert.equal(code, 1)
    assert.ok(stderr.includes('\ndomain nombre7 differs\n'), stderr)
    assert.ok(stderr.includes(`image ${nameOf(own)} of the instance is missing\n`), stderr)
    assert.ok(stderr.endsWith('catalejo: 2 faults\n'), stderr)
  })

  test('the service makes a backup a day, keeps some, and repeats one that failed', async () => {
    await using place = await temporaryFolder()
    const clock = new ManualClock(new Date().toISOString())
    const flags = { 'backup-to': join(place.path, 'backups'), 'backup-keep': '2' }
    await using service = await startHere({ flags, clock })
    await populate(service, 10)
    const taken = async () => (await snapshotsIn(flags['backup-to']).catch(() => [])).length
    const runs = async () => (await service.log()).split('daily backup"').length - 1
    // A run that ends is logged before its lease, which says when the next one is due.
    const next = (isSo: () => Promise<boolean>, what: string) =>
      eventually(async () => {
        await service.sql('UPDATE leases SET due_at = 0 WHERE due_at > 0')
        // Wakes the job.
        clock.advance(1_000)
        return isSo()
      }, what)
    await eventually(async () => (await taken()) === 1 && (await runs()) === 1, 'the first backup')
    const [first] = await snapshotsIn(flags['backup-to'])
    for (let day = 2; day <= 3; day++) {
      clock.advance(25 * HOUR)
      await next(async () => (await runs()) === day, 'the next backup')
    }
    const kept = await snapshotsIn(flags['backup-to'])
    assert.deepEqual([kept.length, kept.includes(first ?? '')], [2, false])

    await rm(flags['backup-to'], { recursive: true })
    await writeFile(flags['backup-to'], 'no folder')
    clock.advance(25 * HOUR)
    await next(async () => (await service.log()).includes('daily backup failed'), 'it fails')
    await rm(flags['backup-to'])
    clock.advance(2 * HOUR)
    await next(async () => (await runs()) === 4, 'it is repeated')
    assert.deepEqual(await readdir(join(flags['backup-to'], 'staging')), [])
  })
})
