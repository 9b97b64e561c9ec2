import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findPhrases } from '../../scripts/language/phrases.ts'
import { temporaryFolder } from '../support/folder.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/check-language.ts', import.meta.url))

test('misspelt words and phrases to avoid fail, with their places', async () => {
  await using folder = await temporaryFolder()
  await mkdir(join(folder.path, 'docs'))
  // Spanish is known in the README, and code is not checked.
  await writeFile(join(folder.path, 'README.md'), '# Title\n\nLa clave no existe.\n')
  await writeFile(
    join(folder.path, 'docs', 'page.md'),
    '# Title\n\nIt recieves a request, `zzyx`.\nWhoever waits\nis answered at once.\n',
  )
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--root', folder.path], {
    encoding: 'utf8',
    timeout: 180_000,
  })
  assert.deepEqual(stdout.trim().split('\n').length, 1, stdout)
  assert.match(stdout, /^docs\/page\.md:3:4 - Unknown word \(recieves\)/)
  assert.deepEqual(stderr.trim().split('\n'), [
    'docs/page.md:4: avoid «Whoever», write: name the actor: the client, the caller, anyone who',
    'docs/page.md:5: avoid «at once», write: immediately, concurrently',
  ])
  assert.equal(status, 1)
})

test('phrases in the code of a document are not checked, those in comments are', () => {
  assert.deepEqual(findPhrases('docs/page.md', '# Title\n\n`whoever` and\n\n```\nanew\n```\n'), [])
  assert.deepEqual(
    findPhrases('src/a.ts', '// Read anew.\nconst both = 1 // at once\n').map(({ line, text }) => ({
      line,
      text,
    })),
    [{ line: 1, text: 'anew' }],
  )
})
