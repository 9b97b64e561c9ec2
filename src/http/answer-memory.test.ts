import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerMemory, BODY_AT, COPIED_BYTES } from './answer-memory.ts'

test('an answer has its head right before its body', () => {
  const lent = new AnswerMemory().lend(3)
  lent?.body(3).set(Buffer.from('abc'))
  assert.equal(lent?.withHead(['HTTP/1.1 200 OK\r\n', '\r\n'], 3)?.toString(), 'HTTP/1.1 200 OK\r\n\r\nabc')
  assert.equal(lent?.withHead(['x'.repeat(BODY_AT), 'x'], 3), undefined)
})

test('memory that was given back is lent again, the last one first', () => {
  const memory = new AnswerMemory()
  const [one, other] = [memory.lend(10), memory.lend(10)]
  assert.ok(one !== undefined && other !== undefined && one !== other)
  one.giveBack()
  other.giveBack()
  assert.equal(memory.lend(COPIED_BYTES), other)
  assert.equal(memory.lend(COPIED_BYTES), one)
})

test('no more is lent than there is, and nothing for what is too large', () => {
  const memory = new AnswerMemory()
  for (const bytes of [COPIED_BYTES, 256 * 1024]) {
    const lent = []
    for (let one = memory.lend(bytes); one !== undefined; one = memory.lend(bytes)) lent.push(one)
    assert.ok(lent.length * bytes <= 16 * 1024 * 1024 && lent.length > 50)
    lent[0]?.giveBack()
    assert.equal(memory.lend(bytes), lent[0])
    assert.equal(memory.lend(bytes), undefined)
  }
  assert.equal(new AnswerMemory().lend(256 * 1024 + 1), undefined)
})
