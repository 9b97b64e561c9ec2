import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/support/folder.ts'
import { checkpointsOf } from './checkpoint.ts'

const counts = { read: 5, added: 0, changed: 4, refused: 3 }

test('a checkpoint is read back, and a torn one or that of another file is ignored', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'altas.csv')
  await writeFile(file, 'una.cl')
  const checkpoints = await checkpointsOf(folder.path, file)
  assert.equal(await checkpoints.read(), undefined)

  const full = { line: 7, counts, at: 'abc', asOf: 1_700_000_000_000 }
  await checkpoints.write(full)
  const read = await (await checkpointsOf(folder.path, file)).read()
  assert.deepEqual(read, full)
  // The format of the previous version.
  await checkpoints.write({ line: 7, counts })
  assert.deepEqual(await checkpoints.read(), {
    line: 7,
    counts,
    at: undefined,
    asOf: undefined,
  })

  const [kept = ''] = await readdir(join(folder.path, 'imports'))
  await writeFile(join(folder.path, 'imports', kept), '{"line":7,"cou')
  assert.equal(await checkpoints.read(), undefined)
  await checkpoints.write({ line: 7, counts })
  await writeFile(file, 'una.cl\ndos.cl')
  assert.equal(await (await checkpointsOf(folder.path, file)).read(), undefined)
})
