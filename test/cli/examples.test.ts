import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { openAsBlob } from 'node:fs'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createProgram } from '../../src/cli/program.ts'
import { temporaryFolder } from '../support/folder.ts'
import { catalejoHere, firstKeys, serve } from '../support/cli.ts'

const COMMAND = fileURLToPath(new URL('../../bin/catalejo.js', import.meta.url))
const PICTURE = fileURLToPath(new URL('../../assets/catalejo.png', import.meta.url))

/** They run until stopped, or need another shell or a bucket. */
const OTHERS = ['catalejo serve', 'catalejo changes --follow yes', 'catalejo images import s3:']
/** It warns that there is no backup. */
const WARNS = ['catalejo doctor']

test('the examples of all commands work when pasted after a first start', { timeout: 240_000 }, async () => {
  await using folder = await temporaryFolder()
  const bin = join(folder.path, 'bin')
  await mkdir(bin)
  await symlink(process.execPath, join(bin, 'node'))
  await writeFile(join(bin, 'catalejo'), `#!/bin/sh\nexec node '${COMMAND}' "$@"\n`, { mode: 0o755 })
  await mkdir(join(folder.path, 'pictures'))
  await copyFile(PICTURE, join(folder.path, 'pictures', 'catalejo.png'))
  await writeFile(join(folder.path, 'addresses.txt'), '{"file":"pictures/catalejo.png"}\n')
  const environment = { PATH: `${bin}:${process.env['PATH']}`, HOME: folder.path }
  {
    await using service = await serve(['--data', join(folder.path, 'data')])
    const form = new FormData()
    form.set('api', (await firstKeys(service)).imagestore)
    form.set('info', JSON.stringify({ name: 'catalejo.png', mime: 'image/png', ip: '127.0.0.1' }))
    form.set('image', await openAsBlob(PICTURE))
    const answer = await fetch(`${service.url}/api/v1/imagestore/upload`, { method: 'POST', body: form })
    assert.equal(answer.status, 200, await answer.text())
    await service.stop()
  }
  const examples = createProgram()
    .leaves()
    .flatMap(({ exampleLines }) => exampleLines)
  const before = process.cwd()
  after(() => process.chdir(before))
  process.chdir(folder.path)
  for (const line of examples.filter((one) => !OTHERS.some((other) => one.startsWith(other)))) {
    const expected = WARNS.some((one) => line.startsWith(one)) ? 1 : 0
    // What needs a shell for its output at most needs no process.
    const [, words, output] = /^([\w ./-]+?)(?: > ([\w.]+))?$/.exec(line) ?? []
    if (words !== undefined) {
      const { code, stderr, stdout } = await catalejoHere(words.split(' ').slice(1))
      assert.equal(code, expected, `${line}\n${stderr}`)
      if (output !== undefined) await writeFile(output, stdout)
      continue
    }
    const { status, stderr } = spawnSync('bash', ['-c', `set -o pipefail; ${line}`], {
      cwd: folder.path,
      env: environment,
      encoding: 'utf8',
      timeout: 180_000,
    })
    assert.equal(status, expected, `${line}\n${stderr}`)
  }
})
