import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode } from 'dns-packet'
import type { ResourceRecord } from 'dns-packet'
import fc from 'fast-check'
import { messageId, encodeQuery, createQuery, readReply } from './wire.ts'
import type { Query } from './wire.ts'

const RESPONSE = 0x8000
const RA = 0x0080

function queryFor(name: string, edns = true): Query {
  const query = createQuery(name, 'ns', 'resolver', edns)
  assert.ok(query)
  return query
}

function answerTo(query: Query, answers: ResourceRecord[], flags = RA): Buffer {
  return encode({
    type: 'response',
    id: 7,
    flags,
    questions: [{ name: query.name, type: 'NS', class: 'IN' }],
    answers,
  })
}

const ns = (name: string, data: string): ResourceRecord => ({ name, type: 'NS', class: 'IN', ttl: 60, data })

test('a query requests NS with recursion and an EDNS size of 1,232 octets', () => {
  const message = decode(encodeQuery(queryFor('registrado.cl'), 0xbeef))
  assert.equal(message.id, 0xbeef)
  assert.equal(message.flags, 0x0100)
  assert.deepEqual(
    message.questions.map(({ name, type, class: klass }) => [name, type, klass]),
    [['registrado.cl', 'NS', 'IN']],
  )
  assert.equal(message.additionals[0]?.udpPayloadSize, 1_232)
  assert.deepEqual(decode(encodeQuery(queryFor('a.cl', false), 1)).additionals, [])
})

test('each message has its own buffer', () => {
  const query = queryFor('a.cl')
  const first = encodeQuery(query, 1)
  encodeQuery(query, 2)
  assert.equal(messageId(first), 1)
  assert.equal(messageId(first.subarray(0, 11)), undefined)
})

test('names that cannot be encoded have no query', () => {
  for (const name of ['', '.', '.cl', 'cl.', 'a..b', 'a b.cl', 'á.cl', `${'x'.repeat(64)}.cl`]) {
    assert.equal(createQuery(name), undefined, name)
  }
  const longest = `${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(61)}`
  assert.equal(longest.length, 253)
  assert.ok(createQuery(longest))
  assert.equal(createQuery(`${longest}x`), undefined)
})

test('a server may change the case of the question', () => {
  const query = queryFor('registrado.cl')
  const message = answerTo(query, [ns('registrado.cl', 'ns1.cl')])
  message.write('ReGiStRaDo', 13, 'latin1')
  assert.deepEqual(readReply(message, query), {
    kind: 'answer',
    answer: { kind: 'found', servers: ['ns1.cl'] },
    ttl: 60,
  })
})

test('a message that does not echo the question is not a reply', () => {
  const query = queryFor('registrado.cl')
  const answers = [ns('registrado.cl', 'ns1.cl')]
  const good = answerTo(query, answers)
  const bent = (bend: (message: Buffer) => void): Buffer => {
    const copy = Buffer.from(good)
    bend(copy)
    return copy
  }
  const messages = {
    'another name': answerTo(queryFor('registrada.cl'), answers),
    'a query': bent((message) => message.writeUInt16BE(0, 2)),
    'another opcode': bent((message) => message.writeUInt16BE(RESPONSE | 0x2800, 2)),
    'two questions': bent((message) => message.writeUInt16BE(2, 4)),
    'no question': bent((message) => message.writeUInt16BE(0, 4)),
    'NXDOMAIN without question': bent((message) => {
      message.writeUInt16BE(RESPONSE | RA | 3, 2)
      message.writeUInt16BE(0, 4)
    }),
    'a cut header': good.subarray(0, 11),
    nothing: Buffer.alloc(0),
  }
  for (const [what, message] of Object.entries(messages)) {
    assert.deepEqual(readReply(message, query), { kind: 'mismatch' }, what)
  }
})

test('a bare FORMERR header means retry without EDNS; without EDNS it is a failure', () => {
  const bare = Buffer.alloc(12)
  bare.writeUInt16BE(RESPONSE | 1, 2)
  assert.deepEqual(readReply(bare, queryFor('a.cl')), { kind: 'no-edns' })
  assert.deepEqual(readReply(bare, queryFor('a.cl', false)), { kind: 'failed' })
})

test('truncation is detected even if a record is cut', () => {
  const query = queryFor('a.cl')
  const message = answerTo(query, [ns('a.cl', 'ns1.cl')], RA | 0x0200)
  assert.deepEqual(readReply(message.subarray(0, -3), query), { kind: 'truncated' })
})

test('name servers with invalid host names are skipped', () => {
  const query = queryFor('a.cl')
  const odd = answerTo(query, [ns('a.cl', 'n\u0000s.cl'), ns('a.cl', 'ñ.cl'), ns('a.cl', '.')])
  assert.deepEqual(readReply(odd, query), { kind: 'failed' })
  const mixed = answerTo(query, [ns('a.cl', '<b>.cl'), ns('a.cl', 'NS1.cl')])
  assert.deepEqual(readReply(mixed, query), {
    kind: 'answer',
    answer: { kind: 'found', servers: ['ns1.cl'] },
    ttl: 60,
  })
})

test('never throws, for any bytes', () => {
  const query = queryFor('registrado.cl')
  const good = answerTo(query, [ns('registrado.cl', 'ns1.cl'), ns('registrado.cl', 'ns2.cl')])
  const head = good.subarray(0, 12 + query.name.length + 6)
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(255))),
      (tail, edits) => {
        readReply(Buffer.from(tail), query)
        readReply(Buffer.concat([head, tail]), query)
        const bent = Buffer.from(good)
        for (const [at, octet] of edits) bent[at % bent.length] = octet
        const reply = readReply(bent, query)
        if (reply.kind === 'answer' && reply.answer.kind === 'found') {
          for (const server of reply.answer.servers) assert.match(server, /^[a-z0-9_.-]+$/)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})
