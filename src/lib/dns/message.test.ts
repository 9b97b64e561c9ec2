import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode } from 'dns-packet'
import type { ResourceRecord } from 'dns-packet'
import fc from 'fast-check'
import { decodeMessage } from './message.ts'

const QUESTION = 'a.cl'
const QUESTION_END = 12 + QUESTION.length + 2 + 4

function messageOf(answers: ResourceRecord[], authorities: ResourceRecord[] = []): Buffer {
  return encode({
    type: 'response',
    flags: 0x0180,
    questions: [{ name: QUESTION, type: 'NS', class: 'IN' }],
    answers,
    authorities,
    additionals: [{ name: '.', type: 'OPT', udpPayloadSize: 1_232, extendedRcode: 1 }],
  })
}

/** A message with one NS record whose owner and target are given in wire format. */
function withRecord(owner: readonly number[], target: readonly number[]): Buffer {
  const bytes = Buffer.concat([
    messageOf([]).subarray(0, QUESTION_END),
    Buffer.from([...owner, 0, 2, 0, 1, 0, 0, 0, 60, 0, target.length, ...target]),
  ])
  bytes.writeUInt16BE(1, 6)
  bytes.writeUInt16BE(0, 10)
  return bytes
}

const soa = { mname: 'ns.cl', rname: 'h.cl', serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5 }

test('reads the output of an independent encoder, skipping other records', () => {
  const bytes = messageOf(
    [
      { name: 'A.cl', type: 'NS', class: 'IN', ttl: 60, data: 'NS1.cl' },
      { name: 'a.cl', type: 'NS', class: 'CH', ttl: 60, data: 'ns2.cl' },
      { name: 'a.cl', type: 'TXT', class: 'IN', ttl: 60, data: 'text' },
      { name: 'a.cl', type: 'CNAME', class: 'IN', ttl: 61, data: 'b.cl' },
    ],
    [{ name: '.', type: 'SOA', class: 'IN', ttl: 62, data: soa }],
  )
  assert.deepEqual(decodeMessage(bytes, QUESTION, QUESTION_END), {
    flags: 0x8180,
    extendedRcode: 1,
    answers: [
      { type: 'NS', name: 'a.cl', ttl: 60, target: 'ns1.cl' },
      { type: 'CNAME', name: 'a.cl', ttl: 61, target: 'b.cl' },
    ],
    authorities: [{ type: 'SOA', name: '', ttl: 62, minimum: 5 }],
  })
})

test('reads compressed names', () => {
  // The target is "n" and a pointer to "cl", the second label of the question.
  const message = decodeMessage(withRecord([0xc0, 12], [1, 0x4e, 0xc0, 14]), QUESTION, QUESTION_END)
  assert.deepEqual(message?.answers, [{ type: 'NS', name: 'a.cl', ttl: 60, target: 'n.cl' }])
})

test('escapes octets that host names cannot have, and dots inside labels', () => {
  const message = decodeMessage(withRecord([0xc0, 12], [4, 0x61, 0x2e, 0xff, 0, 0]), QUESTION, QUESTION_END)
  assert.deepEqual(message?.answers, [{ type: 'NS', name: 'a.cl', ttl: 60, target: 'a\\046\\255\\000' }])
})

test('malformed messages are undefined', () => {
  const label = [63, ...Array.from({ length: 63 }, () => 0x61)]
  const cases: Record<string, Buffer> = {
    'a pointer to itself': withRecord([0xc0, QUESTION_END], [0]),
    'a pointer forward': withRecord([0xc0, QUESTION_END + 8], [0]),
    'a pointer into the header': withRecord([0xc0, 0], [0]),
    'a reserved label type': withRecord([0x40, 0], [0]),
    'a name past its record': withRecord([0xc0, 12], [5, 0x61]),
    'a name short of its record': withRecord([0xc0, 12], [0, 0]),
    'a name of 256 octets and more': withRecord([...label, ...label, ...label, ...label, 0], [0]),
    'a record that is missing': messageOf([]).subarray(0, QUESTION_END),
  }
  for (const [what, bytes] of Object.entries(cases)) {
    assert.equal(decodeMessage(bytes, QUESTION, QUESTION_END), undefined, what)
  }
})

test('agrees with dns-packet on targets with any host name', () => {
  const host = fc.array(fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.array(host, { maxLength: 10 }), (hosts) => {
      const bytes = messageOf(
        hosts.map((labels) => ({ name: QUESTION, type: 'NS', class: 'IN', ttl: 1, data: labels.join('.') })),
      )
      const ours = decodeMessage(bytes, QUESTION, QUESTION_END)?.answers
      const theirs = decode(bytes).answers.map(({ data }) => String(data).toLowerCase())
      assert.deepEqual(
        ours?.map((record) => (record.type === 'NS' ? record.target : undefined)),
        theirs,
      )
    }),
  )
})
