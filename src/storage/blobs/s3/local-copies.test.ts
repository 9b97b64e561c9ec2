import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { OverloadError } from '../../../lib/errors.ts'
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
  // Which of the first two is copied sooner is up to the disk. The last two get the same copy.
  assert.deepEqual([...order.slice(0, 2).toSorted(), ...order.slice(2)], ['a 1', 'a 2', 'a 4', 'b 4'])
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

test('users of one blob wait as one job, however many they are', async () => {
  const options = { ...OPTIONS, copies: 1, copiesPerClient: 1, maxWaiting: 2, maxWaitingPerClient: 1 }
  const copied: string[] = []
  const running = Promise.withResolvers<undefined>()
  const copy = localCopies(options, (key) => {
    copied.push(key)
    return running.promise
  })
  const hold = (key: string, signal?: AbortSignal) =>
    copy(key, () => Promise.resolve('used'), signal, new Requesters('marks'))
  const first = hold('first')
  const leave = new AbortController()
  const left = hold('mark', leave.signal)
  const users = Array.from({ length: 200 }, () => hold('mark'))
  await assert.rejects(hold('other'), OverloadError)
  leave.abort()
  await assert.rejects(left, OverloadError)
  running.resolve(undefined)
  assert.deepEqual(new Set(await Promise.all([first, ...users])), new Set([undefined]))
  assert.deepEqual(copied, ['first', 'mark'])
})
