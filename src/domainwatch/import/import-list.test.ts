import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ImportSlots } from './import-list.ts'

const { signal } = new AbortController()
const MIB = 1024 * 1024

test('a small list waits for no large one, and both kinds are imported one at a time', async () => {
  const slots = new ImportSlots()
  const hold = Promise.withResolvers<void>()
  const begun: string[] = []
  const start = (name: string, bytes: number, task = async () => {}) =>
    slots.import(name, bytes, signal, () => {
      begun.push(name)
      return task()
    })
  const large = start('large', 256 * MIB, () => hold.promise)
  const next = start('next', 256 * MIB)
  await start('small', MIB)
  await Promise.all(['a', 'b'].map((name) => start(name, MIB)))
  assert.deepEqual(begun, ['large', 'small', 'a', 'b'])
  hold.resolve()
  await Promise.all([large, next])
  assert.deepEqual(begun.at(-1), 'next')
})
