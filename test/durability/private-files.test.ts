import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { catalejoHere, serve, type CliResult } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { expectedHash, gradient, ImageClient } from '../support/images.ts'

const skip = process.platform === 'win32' && 'there are no modes'
const png = await gradient(40, 20).png().toBuffer()

/** Everything in a folder, itself included, that the group or others have any right to. */
async function openToOthers(folder: string): Promise<string[]> {
  const names = ['', ...(await readdir(folder, { recursive: true }))]
  const modes = await Promise.all(
    names.map(async (name) => {
      // Background jobs remove files meanwhile.
      const found = await stat(join(folder, name)).catch(() => undefined)
      return found === undefined ? [] : [`${name} ${(found.mode & 0o777).toString(8)}`]
    }),
  )
  return modes.flat().filter((mode) => !mode.endsWith('00'))
}

async function succeeds(args: readonly string[]): Promise<CliResult> {
  const result = await catalejoHere(args)
  assert.equal(result.code, 0, result.stderr)
  return result
}

suite('files of the service are private', { skip, timeout: 240_000 }, () => {
  test('whatever the umask allows', async () => {
    const before = process.umask(0)
    try {
      await exercise()
    } finally {
      process.umask(before)
    }
  })

  test('a data folder that others can read causes a warning at startup, and is not changed', async () => {
    await using data = await temporaryFolder()
    {
      await using service = await serve(['--data', data.path])
      assert.ok(!service.stdout().includes('other users'), service.stdout())
    }
    const file = join(data.path, 'catalejo.db')
    await chmod(file, 0o644)
    await chmod(data.path, 0o750)
    await using service = await serve(['--data', data.path])
    const warnings = service
      .stdout()
      .split('\n')
      .filter((line) => line.includes('other users can read'))
    assert.equal(warnings.length, 1)
    const warning: unknown = JSON.parse(warnings[0] ?? '')
    assert.ok(typeof warning === 'object' && warning !== null && 'level' in warning && 'folder' in warning)
    assert.deepEqual([warning.level, warning.folder], [40, data.path])
    assert.deepEqual([(await stat(data.path)).mode & 0o777, (await stat(file)).mode & 0o777], [0o750, 0o644])
  })
})

async function exercise(): Promise<void> {
  await using folder = await temporaryFolder()
  const place = (name: string) => join(folder.path, name)
  const data = place('data')
  const images = place('images')
  await mkdir(images)
  await mkdir(data, { mode: 0o700 })
  await writeFile(join(images, 'one.png'), png)
  await writeFile(place('names.txt'), 'uno\ndos\n')
  const key = (await succeeds(['key', 'create', '--data', data, '--account', 'a', '--service', 'imagestore']))
    .stdout
  await succeeds(['key', 'create', '--data', data, '--account', 'd', '--service', 'domainwatch'])
  await succeeds(['import', '--data', data, place('names.txt')])
  await succeeds(['images', 'import', images, '--data', data, '--account', 'a'])
  {
    await using service = await serve(['--data', data])
    const client = new ImageClient(service.url, key.trim())
    assert.equal((await client.upload(png)).status, 200)
    assert.equal((await client.link(`${expectedHash(png)}&m=w_10`)).status, 200)
    await eventually(
      async () =>
        (await readdir(data, { recursive: true })).some((name) => /^derivatives(\/[^/]+){3}$/.test(name)),
      'the derivative is kept',
    )
    assert.deepEqual(await openToOthers(data), [])
    await succeeds(['backup', place('backups'), '--data', data])
    await succeeds(['images', 'export', place('exported'), '--data', data, '--account', 'a'])
    await succeeds(['verify', '--data', data])
  }
  await succeeds(['restore', place('backups'), '--data', place('restored')])
  await succeeds(['migrate', '--data', data, '--to-data', place('moved')])
  for (const name of ['data', 'backups', 'exported', 'restored', 'moved']) {
    assert.deepEqual(await openToOthers(place(name)), [], name)
  }
}
