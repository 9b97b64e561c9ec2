import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadYourWrites } from './read-your-writes.ts'

const write = () => Promise.resolve('stored')

test('writers wait for the lists only if someone reads them', { timeout: 60_000 }, async () => {
  const own = new ReadYourWrites()
  const settling = Promise.withResolvers<void>()
  assert.equal(await own.run(write, () => settling.promise), 'stored')

  const read = new ReadYourWrites()
  read.noteRead()
  let isAnswered = false
  const later = Promise.withResolvers<void>()
  const answer = read.run(write, () => later.promise).then(() => (isAnswered = true))
  await new Promise(setImmediate)
  assert.equal(isAnswered, false)
  later.resolve()
  await answer
})

test('a single writer does not wait', { timeout: 60_000 }, async () => {
  const own = new ReadYourWrites()
  const first = Promise.withResolvers<void>()
  await own.run(write, () => first.promise)
  let isAnswered = false
  const second = own.run(write, () => Promise.resolve()).then(() => (isAnswered = true))
  await new Promise(setImmediate)
  assert.equal(isAnswered, false)
  first.resolve()
  await second
})
