import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, ResourceRecord } from './message.ts'
import { classify } from './classify.ts'

const AA = 0x0400
const RA = 0x0080
const NAME = 'registrado.cl'

const ns = (name: string, ttl = 300): ResourceRecord => ({ type: 'NS', name, ttl, target: 'ns1.hosting.cl' })
const soa = (name: string, ttl = 300, minimum = 60): ResourceRecord => ({ type: 'SOA', name, ttl, minimum })
const cname = (name: string, target: string, ttl = 300): ResourceRecord => ({
  type: 'CNAME',
  name,
  ttl,
  target,
})

function message(parts: Partial<Message>): Message {
  return { flags: RA, extendedRcode: 0, answers: [], authorities: [], ...parts }
}

const found = (ttl: number): unknown => ({
  kind: 'answer',
  answer: { kind: 'found', servers: ['ns1.hosting.cl'] },
  ttl,
})
const negative = (kind: string, ttl: number): unknown => ({ kind: 'answer', answer: { kind }, ttl })
const failed = { kind: 'failed' }
const refused = { kind: 'refused' }

const cases: readonly [string, Partial<Message>, number, unknown][] = [
  ['name servers in the answer', { answers: [ns(NAME, 90), ns(NAME, 80)] }, 0, found(80)],
  ['name servers of another name', { answers: [ns('otro.cl')] }, 0, negative('empty', 0)],
  ['a TTL with its highest bit set', { answers: [ns(NAME, 0x80000000)] }, 0, found(0)],
  ['a delegation', { flags: 0, authorities: [ns(NAME)] }, 0, found(300)],
  ['a delegation by a forwarder', { authorities: [ns(NAME)] }, 0, found(300)],
  ['an authoritative "delegation"', { flags: AA, authorities: [ns(NAME)] }, 0, failed],
  ['a referral upward', { flags: 0, authorities: [ns('cl')] }, 0, failed],
  ['a referral to the root', { authorities: [ns('')] }, 0, failed],
  ['a referral astray', { flags: 0, authorities: [ns('a.registrado.cl')] }, 0, failed],
  ['no data, authoritative', { flags: AA, authorities: [soa('cl')] }, 0, negative('empty', 60)],
  ['no data, SOA TTL below its minimum', { authorities: [soa('cl', 5)] }, 0, negative('empty', 5)],
  ['no data, SOA and the zone itself', { authorities: [soa('cl'), ns('cl')] }, 0, negative('empty', 60)],
  ['no data, recursive, without SOA', {}, 0, negative('empty', 0)],
  ['no data, authoritative, without SOA', { flags: AA }, 0, failed],
  ['no data from who cannot know', { flags: 0, authorities: [soa('cl')] }, 0, failed],
  ['an SOA of a zone elsewhere', { flags: AA, authorities: [soa('gistrado.cl')] }, 0, failed],
  ['no such name', { authorities: [soa('cl')] }, 3, negative('no-such-name', 60)],
  ['no such name, without SOA', {}, 3, negative('no-such-name', 0)],
  ['no such name from who cannot know', { flags: 0 }, 3, failed],
  ['an alias with name servers', { answers: [cname(NAME, 'b.cl', 30), ns('b.cl')] }, 0, found(30)],
  [
    'an alias without',
    { answers: [cname(NAME, 'b.cl')], authorities: [soa('b.cl')] },
    0,
    negative('empty', 60),
  ],
  ['an alias of no name', { answers: [cname(NAME, 'b.cl', 30)] }, 3, negative('empty', 30)],
  ['aliases in a circle', { answers: [cname(NAME, 'b.cl'), cname('b.cl', NAME)] }, 0, negative('empty', 300)],
  ['SERVFAIL with name servers', { answers: [ns(NAME)] }, 2, failed],
  ['FORMERR', {}, 1, failed],
  ['NOTIMP', {}, 4, refused],
  ['REFUSED', {}, 5, refused],
  ['NOTAUTH', {}, 9, refused],
  ['YXDOMAIN', {}, 6, failed],
  ['BADVERS', { extendedRcode: 1, authorities: [soa('cl')] }, 0, failed],
]

for (const [what, parts, rcode, expected] of cases) {
  test(`${what}`, () => assert.deepEqual(classify(message(parts), rcode, NAME), expected))
}
