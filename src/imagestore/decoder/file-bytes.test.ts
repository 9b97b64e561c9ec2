import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readWhole } from './file-bytes.ts'

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalejo-file-bytes-'))
})
after(() => rm(folder, { recursive: true }))

async function fileOf(text: string): Promise<string> {
  const path = join(folder, text.slice(0, 8))
  await writeFile(path, text)
  return path
}

test('a file stands in the room, and nothing of the one before', async () => {
  const room = Buffer.alloc(16)
  assert.equal(readWhole(await fileOf('the first, 16 by'), room).toString(), 'the first, 16 by')
  const second = readWhole(await fileOf('second'), room)
  assert.equal(second.toString(), 'second')
  assert.equal(second.buffer, room.buffer)
})

test('a file that is too large for the room is read all the same, and leaves it alone', async () => {
  const room = Buffer.alloc(4, 'r')
  const path = await fileOf('larger')
  assert.equal(readWhole(path, room).toString(), 'larger')
  assert.equal(readWhole(path).toString(), 'larger')
  assert.equal(room.toString(), 'rrrr')
})

test('a file that is not there is an error', () => {
  assert.throws(() => readWhole(join(folder, 'none')), { code: 'ENOENT' })
})
