import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Frames } from './tcp.ts'

function framed(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([message.length >> 8, message.length & 0xff]), message])
}

/** Reads a stream that arrives in chunks of these sizes, repeated. */
function read(stream: Buffer, sizes: readonly number[]): string[] {
  const frames = new Frames()
  const messages: string[] = []
  for (let at = 0, piece = 0; at < stream.length; piece++) {
    const room = frames.room()
    const count = stream.copy(room, 0, at, at + Math.min(room.length, sizes[piece % sizes.length] ?? 1))
    assert.ok(count > 0, 'there is room')
    frames.received(count, (message) => messages.push(message.toString('hex')))
    at += count
  }
  return messages
}

test('messages are reassembled however the stream is split', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }),
      (messages, sizes) => {
        const expected = messages.map((message) => Buffer.from(message).toString('hex'))
        assert.deepEqual(read(Buffer.concat(messages.map(framed)), sizes), expected)
      },
    ),
  )
})

test('messages of the maximum size in a row', () => {
  const largest = framed(Buffer.alloc(65_535, 7))
  const messages = read(Buffer.concat([largest, largest, largest, largest]), [65_536])
  assert.deepEqual(
    messages.map((message) => message.length / 2),
    [65_535, 65_535, 65_535, 65_535],
  )
})
