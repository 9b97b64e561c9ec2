import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { catalejoHere, type CliResult } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { filesUnder, folders, succeeds } from './backups.ts'
import { populate, startHere } from './portrait.ts'

interface Backup {
  readonly path: string
  /** Changes the manifest, and computes its digest again. */
  manifest(change: (text: string) => string): Promise<void>
  /** Changes a table's rows, and computes all digests again. */
  rows(table: string, change: (text: string) => string): Promise<void>
  /** Restores it into an empty folder. */
  restored(): Promise<CliResult & { readonly left: readonly string[] }>
}

/** A backup as the service made it. */
const whole = await temporaryFolder()
before(async () => {
  await using service = await startHere()
  await populate(service, 5)
  await succeeds(['backup', whole.path, '--data', service.data])
})
after(() => whole[Symbol.asyncDispose]())

/** A copy that an attacker edits, who can compute its digests. */
async function withBackup(work: (backup: Backup) => Promise<void>): Promise<void> {
  await using made = await folders()
  const [path, , parent] = made
  await cp(whole.path, path, { recursive: true })
  const [manifestPath = ''] = await filesUnder(join(path, 'manifests'))
  async function manifest(change: (text: string) => string) {
    const sealed = await readFile(manifestPath, 'utf8')
    const text = change(`${sealed.replace(/,"sha256":"[0-9a-f]{64}"\}\n$/, '')}}`)
    await writeFile(manifestPath, `${text.slice(0, -1)},"sha256":"${hash('sha256', text)}"}\n`)
  }
  await work({
    path,
    manifest,
    async rows(table, change) {
      const file = (await filesUnder(join(path, 'tables'))).find((one) => one.includes(`-${table}-`)) ?? ''
      const old = await readFile(file)
      const fresh = gzipSync(change(String(gunzipSync(old))))
      await writeFile(file, fresh)
      await manifest((text) =>
        text
          .replace(hash('sha256', old), hash('sha256', fresh))
          .replace(`"bytes":${old.length},`, `"bytes":${fresh.length},`),
      )
    },
    async restored() {
      const target = join(parent, 'outer', 'inner')
      await mkdir(target, { recursive: true })
      const result = await catalejoHere(['restore', path, '--data', target])
      return { ...result, left: (await readdir(parent, { recursive: true })).toSorted() }
    },
  })
}

/** Only the folder that it was to be restored into is there. */
const isClean = (left: readonly string[]) => assert.deepEqual(left, ['outer', 'outer/inner'])

suite('backups edited by an attacker', { timeout: 400_000 }, () => {
  for (const key of ['../../../../escaped', '/etc/passwd', 'a\\u0000b', '']) {
    test(`an image key of ${JSON.stringify(key)} is refused before anything is written`, () =>
      withBackup(async (backup) => {
        await backup.rows('blobs', (text) =>
          text.replace(
            /^(\["[^"]+","[^."]+)[^"]*"/m,
            (_row, start: string) => `${start.replace(/,"[^"]*$/, '')},"${key}"`,
          ),
        )
        const { code, stderr, stdout, left } = await backup.restored()
        assert.deepEqual([code, stdout], [1, ''])
        assert.match(
          stderr,
          /blobs has ".*", which is not a valid blob key\ncatalejo: nothing was restored\n$/,
        )
        isClean(left)
      }))
  }

  test('keys of deleted images are validated too', () =>
    withBackup(async (backup) => {
      const name = 'blob_trash'
      const [manifest = ''] = await filesUnder(join(backup.path, 'manifests'))
      const snapshot = /(\d{8}T\d{9}Z)\.json$/.exec(manifest)?.[1] ?? ''
      const bytes = gzipSync('["../../escaped"]\n')
      const file = `${snapshot}-${name}-1.ndjson.gz`
      await mkdir(join(backup.path, 'tables', file.slice(0, 2)), { recursive: true })
      await writeFile(join(backup.path, 'tables', file.slice(0, 2), file), bytes)
      const entry = `[{"name":"${file}","rows":1,"bytes":${bytes.length},"sha256":"${hash('sha256', bytes)}"}]`
      await backup.manifest((text) =>
        text.replace(/("name":"blob_trash".*?"files":)\[\]/, (_all, start: string) => start + entry),
      )
      const { code, stderr, left } = await backup.restored()
      assert.equal(code, 1)
      assert.match(stderr, /blob_trash has "\.\.\/\.\.\/escaped", which is not a valid blob key/)
      isClean(left)
    }))

  const EDITS: readonly (readonly [string, (text: string) => string])[] = [
    ['a table that is none of ours', (text) => text.replace('"name":"last_adds"', '"name":"moves"')],
    ['a table twice', (text) => text.replace('"name":"last_adds"', '"name":"keys"')],
    ['a column that is none', (text) => text.replace('"added_at":"integer"', '"rowid":"integer"')],
    ['another key', (text) => text.replace('"key":["account_id"]', '"key":["added_at"]')],
    [
      'a statement in place of a column',
      (text) =>
        text.replace('"added_at":"integer"', '"added_at) VALUES (1, 2); DROP TABLE keys --":"integer"'),
    ],
    [
      'a file elsewhere',
      (text) => text.replace(/"name":"\d+T\d+Z-keys-1\.ndjson\.gz"/, '"name":"../../keys"'),
    ],
    ['a size that is none', (text) => text.replace(/"bytes":\d+,"sha256"/, '"bytes":-1,"sha256"')],
    ['another name', (text) => text.replace(/"name":"\d{8}T/, '"name":"20000101T')],
  ]
  for (const [what, edit] of EDITS) {
    test(`a manifest with ${what} is damaged`, () =>
      withBackup(async (backup) => {
        await backup.manifest((text) => {
          const edited = edit(text)
          assert.notEqual(edited, text)
          return edited
        })
        const { code, stderr, left } = await backup.restored()
        assert.equal(code, 1)
        assert.match(stderr, /its manifest is damaged\ncatalejo: nothing was restored\n$/)
        isClean(left)
      }))
  }

  for (const part of ['manifests', 'tables', 'images', 'staging']) {
    test(`a link in the place of ${part} is not followed`, () =>
      withBackup(async (backup) => {
        await using elsewhere = await temporaryFolder()
        const moved = join(elsewhere.path, 'moved')
        await rename(join(backup.path, part), moved)
        await symlink(moved, join(backup.path, part))
        const { code, stderr, left } = await backup.restored()
        assert.equal(code, 1)
        assert.ok(
          stderr.includes(`${join(backup.path, part)} is not a folder: links are not followed`),
          stderr,
        )
        isClean(left)
      }))
  }

  test('an image that is a link is not read', () =>
    withBackup(async (backup) => {
      await using elsewhere = await temporaryFolder()
      const [image = ''] = await filesUnder(join(backup.path, 'images'))
      await rename(image, join(elsewhere.path, 'moved'))
      await symlink(join(elsewhere.path, 'moved'), image)
      const { code, stderr } = await backup.restored()
      assert.equal(code, 1)
      assert.match(stderr, /: missing\n1 of \d+ images could not be restored/)
    }))
})

test('without backups nothing is restored and no folder is created', async () => {
  await using parent = await temporaryFolder()
  const place = join(parent.path, 'backups')
  const { code, stderr } = await catalejoHere(['restore', place, '--data', join(parent.path, 'data')])
  assert.equal(code, 1)
  assert.ok(stderr.startsWith(`catalejo: there are no backups in ${place}\n`), stderr)
  assert.deepEqual(await readdir(parent.path), [])
})
