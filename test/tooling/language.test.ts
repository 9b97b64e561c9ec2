import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/folder.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/check-language.ts', import.meta.url))

async function check(readme: string, page: string) {
  await using folder = await temporaryFolder()
  await mkdir(join(folder.path, 'docs'))
  await writeFile(join(folder.path, 'README.md'), readme)
  await writeFile(join(folder.path, 'docs', 'page.md'), page)
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--root', folder.path], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, stdout: stdout.trim().split('\n'), stderr: stderr.trim().split('\n') }
}

const CLEAN = '# Title\n\nCatalejo retries the request.\n'

test('plain documents pass', async () => {
  // What is in code is not checked, and words of two languages are known in the README.
  const { status, stdout } = await check(
    `${CLEAN}\nLa clave no existe.\n`,
    `${CLEAN}\n\`whoever zzyx\`\n\n\`\`\`\nanew\n\`\`\`\n`,
  )
  assert.deepEqual(stdout, ['2 files have no spelling mistakes and no phrases to avoid'])
  assert.equal(status, 0)
})

test('a misspelt word fails, with its place', async () => {
  const { status, stdout } = await check(CLEAN, `${CLEAN}\nIt recieves a request.\n`)
  assert.equal(status, 1)
  assert.equal(stdout.length, 1)
  assert.match(stdout[0] ?? '', /^docs\/page\.md:5:4 - Unknown word \(recieves\)/)
})

test('a phrase to avoid fails, with its place and what to write instead', async () => {
  const { status, stderr } = await check(CLEAN, `${CLEAN}\nWhoever waits\nis answered at once.\n`)
  assert.equal(status, 1)
  assert.deepEqual(stderr, [
    'docs/page.md:5: avoid «Whoever», write: name the actor: the client, the caller, anyone who',
    'docs/page.md:6: avoid «at once», write: immediately, concurrently',
  ])
})
