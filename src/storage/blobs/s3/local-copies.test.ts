import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Requesters } from '../../../lib/requesters.ts'
import { localCopies } from './local-copies.ts'
import { S3_DEFAULTS } from './requests.ts'

const OPTIONS = { ...S3_DEFAULTS, copies: 3, copiesPerClient: 2, copyWaitMs: 60_000 }

test('copies are shared fairly: no client waits in the queue of another, not even for the same blob', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-lending-'))
  const order: string[] = []
  let copies = 0
  const copy = localCopies(OPTIONS, async (key) => {
    const path = join(folder, `${key}-${copies++}`)
    await writeFile(path, key)
    return path
  })
  const ends: (() => void)[] = []
  const hold = (key: string, client: string) =>
    copy(
      key,
      () => {
        order.push(`${client} ${key}`)
        return new Promise<void>((resolve) => ends.push(resolve))
      },
      undefined,
      new Requesters(client),
    )
  const turn = () => new Promise((resolve) => setTimeout(resolve, 20))
  const all = [hold('1', 'a'), hold('2', 'a'), hold('3', 'a'), hold('4', 'a')]
  while (order.length < 2) await turn()
  // The third copy of the first client waits, because the free slot is reserved for others, until another client requests it too.
  all.push(hold('4', 'b'))
  while (order.length < 4) await turn()
  // Which of the first two is copied sooner is up to the disk.
  assert.deepEqual([...order.slice(0, 2).toSorted(), ...order.slice(2)], ['a 1', 'a 2', 'b 4', 'a 4'])
  // An existing copy is shared by all clients.
  all.push(hold('1', 'b'))
  while (order.length < 5) await turn()
  assert.equal(copies, 3)
  while (order.length < all.length || ends.length > 0) {
    for (const end of ends.splice(0)) end()
    await turn()
  }
  await Promise.all(all)
  assert.deepEqual(await readdir(folder), [])
  await rm(folder, { recursive: true })
})
