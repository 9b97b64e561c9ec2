import assert from 'node:assert/strict'
import { chmod, chown, mkdir, readdir, rmdir, stat, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { catalejo } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Another user, for a test that runs as root. */
const STRANGER = 65_534
const onlyRoot = process.getuid?.() !== 0 && 'only root may give files away'

/** Runs a command that compiles something. @returns what it left in each of the folders */
async function run(home: string, temporary: string) {
  const { code, stderr } = await catalejo(['help'], { HOME: home, TMPDIR: temporary })
  assert.deepEqual([code, stderr], [0, ''])
  return { temporary: await readdir(temporary) }
}

suite('the compile cache is private', () => {
  test('it is in a folder of the user, not in the shared temporary folder', async () => {
    await using home = await temporaryFolder()
    await using temporary = await temporaryFolder()
    assert.deepEqual(await run(home.path, temporary.path), { temporary: [] })
    const cache = join(home.path, '.cache', 'catalejo')
    assert.equal((await stat(cache)).mode & 0o777, 0o700)
    assert.equal((await readdir(cache)).length, 1)
  })

  test('a link, a folder that others can write to, and one inside such a folder are not used', async () => {
    await using home = await temporaryFolder()
    await using temporary = await temporaryFolder()
    await using elsewhere = await temporaryFolder()
    const [parent, cache] = [join(home.path, '.cache'), join(home.path, '.cache', 'catalejo')]
    await mkdir(cache, { recursive: true })
    await chmod(cache, 0o770)
    await run(home.path, temporary.path)
    assert.deepEqual(await readdir(cache), [])
    await rmdir(cache)
    await symlink(elsewhere.path, cache)
    await run(home.path, temporary.path)
    assert.deepEqual(await readdir(elsewhere.path), [])
    await unlink(cache)
    await chmod(parent, 0o777)
    await run(home.path, temporary.path)
    assert.deepEqual(await readdir(parent), [])
  })

  test('a folder of another user is not used', { skip: onlyRoot }, async () => {
    await using home = await temporaryFolder()
    await using temporary = await temporaryFolder()
    const cache = join(home.path, '.cache', 'catalejo')
    await mkdir(cache, { recursive: true, mode: 0o700 })
    await chown(cache, STRANGER, STRANGER)
    await run(home.path, temporary.path)
    assert.deepEqual(await readdir(cache), [])
    await chown(cache, 0, 0)
    await chown(join(home.path, '.cache'), STRANGER, STRANGER)
    await run(home.path, temporary.path)
    assert.deepEqual(await readdir(cache), [])
  })
})
