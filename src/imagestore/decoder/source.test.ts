import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readInto } from './source.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalejo-source-'))
})
after(() => rm(folder, { recursive: true }))

async function fileOf(text: string): Promise<string> {
  const path = join(folder, text.slice(0, 8))
  await writeFile(path, text)
  return path
}

test('a file is read into the buffer, without bytes of an earlier one', async () => {
  const buffer = Buffer.alloc(16)
  assert.equal(readInto(await fileOf('the first, 16 by'), buffer).toString(), 'the first, 16 by')
  const second = readInto(await fileOf('second'), buffer)
  assert.equal(second.toString(), 'second')
  assert.equal(second.buffer, buffer.buffer)
})

test('a file that does not fit is read into new memory', async () => {
  const buffer = Buffer.alloc(4, 'r')
  const path = await fileOf('larger')
  assert.equal(readInto(path, buffer).toString(), 'larger')
  assert.equal(readInto(path).toString(), 'larger')
  assert.equal(buffer.toString(), 'rrrr')
})

test('a missing file is an error', () => {
  assert.throws(() => readInto(join(folder, 'none')), { code: 'ENOENT' })
})
