import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Crowd } from './crowd.ts'

test('a client has so much under way and no more; others, and what has ended, do not count', async () => {
  const crowd = new Crowd(2)
  const gate = Promise.withResolvers<string>()
  const wait = () => gate.promise
  const first = [crowd.enter('a', wait), crowd.enter('a', wait)]
  assert.equal(await crowd.enter('a', wait), undefined)
  const other = crowd.enter('b', wait)
  gate.resolve('done')
  assert.deepEqual(
    await Promise.all([...first, other]),
    Array.from({ length: 3 }, () => ({ result: 'done' })),
  )
  await assert.rejects(
    crowd.enter('a', () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.deepEqual(await crowd.enter('a', () => Promise.resolve(1)), { result: 1 })
})
