import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encode } from 'dns-packet'
import type { ResourceRecord } from 'dns-packet'
import fc from 'fast-check'
import { type RecordType, type RecordValue, TYPE_CODES } from './record-data.ts'
import type { Reply } from './classify.ts'
import { createQuery, readReply, type Query } from './wire.ts'

const NAME = 'registrado.cl'
const TYPES: readonly RecordType[] = ['a', 'aaaa', 'mx', 'txt', 'soa', 'caa']

function queryOf(type: RecordType): Query {
  const query = createQuery(NAME, type)
  assert.ok(query)
  return query
}

function responseTo(type: RecordType, answers: ResourceRecord[]): Buffer {
  return encode({
    type: 'response',
    id: 7,
    flags: 0x0080,
    questions: [{ name: NAME, type: type.toUpperCase(), class: 'IN' }],
    answers,
  })
}

const record = (type: RecordType, data: unknown, name = NAME): ResourceRecord => ({
  name,
  type: type.toUpperCase(),
  class: 'IN',
  ttl: 60,
  data,
})

const found = (records: readonly RecordValue[]): Reply => ({
  kind: 'answer',
  answer: { kind: 'records', records },
  ttl: 60,
})

function assertRead(type: RecordType, given: readonly unknown[], wanted: readonly RecordValue[]): void {
  const message = responseTo(
    type,
    given.map((data) => record(type, data)),
  )
  assert.deepEqual(readReply(message, queryOf(type)), found(wanted))
}

const soa = { serial: 7, refresh: 1, retry: 2, expire: 3, minimum: 0xffffffff }

test('reads each type as an independent encoder wrote it, sorted and without duplicates', () => {
  assertRead('a', ['192.0.2.10', '192.0.2.1', '192.0.2.10'], ['192.0.2.1', '192.0.2.10'])
  assertRead('aaaa', ['2001:db8:0:0:1::1', '::ffff:192.0.2.1'], ['2001:db8::1:0:0:1', '::ffff:192.0.2.1'])
  assertRead(
    'mx',
    [
      { preference: 100, exchange: 'b.cl' },
      { preference: 20, exchange: 'Z.CL' },
      { preference: 20, exchange: 'a.cl' },
    ],
    [
      { preference: 20, exchange: 'a.cl' },
      { preference: 20, exchange: 'z.cl' },
      { preference: 100, exchange: 'b.cl' },
    ],
  )
  assertRead('mx', [{ preference: 0, exchange: '.' }], [{ preference: 0, exchange: '.' }])
  assertRead(
    'txt',
    [['v=spf1 ', 'include:_spf.ejemplo.cl', ' -all']],
    ['v=spf1 include:_spf.ejemplo.cl -all'],
  )
  assertRead('txt', [['']], [''])
  assertRead('txt', [['ñandú']], ['ñandú'])
  assertRead('txt', [Buffer.from([0x61, 0xff])], ['a\u{fffd}'])
  assertRead('soa', [{ mname: 'NS.cl', rname: 'h.cl', ...soa }], [{ mname: 'ns.cl', rname: 'h.cl', ...soa }])
  assertRead(
    'caa',
    [
      { flags: 128, tag: 'issue', value: 'letsencrypt.org' },
      { flags: 0, tag: 'iodef', value: 'mailto:a@ejemplo.cl' },
    ],
    [
      { flags: 0, tag: 'iodef', value: 'mailto:a@ejemplo.cl' },
      { flags: 128, tag: 'issue', value: 'letsencrypt.org' },
    ],
  )
})

test('records of other names, classes and types are ignored, and a CNAME chain is followed', () => {
  const alias = (name: string, data: string) => ({ name, type: 'CNAME', class: 'IN', ttl: 30, data })
  const message = responseTo('a', [
    alias(NAME, 'a.cl'),
    record('a', '192.0.2.1', NAME),
    record('a', '192.0.2.2', 'otro.cl'),
    { ...record('a', '192.0.2.3', 'b.cl'), class: 'CH' },
    record('txt', 'no', 'b.cl'),
    record('a', '192.0.2.4', 'b.cl'),
    alias('a.cl', 'b.cl'),
  ])
  assert.deepEqual(readReply(message, queryOf('a')), { ...found(['192.0.2.4']), ttl: 30 })
  const others = responseTo('a', [record('a', '192.0.2.2', 'otro.cl')])
  assert.deepEqual(readReply(others, queryOf('a')), { kind: 'answer', answer: { kind: 'empty' }, ttl: 0 })
})

test('a referral says nothing about records', () => {
  const message = encode({
    type: 'response',
    id: 7,
    flags: 0,
    questions: [{ name: NAME, type: 'A', class: 'IN' }],
    authorities: [{ name: NAME, type: 'NS', class: 'IN', ttl: 60, data: 'ns1.cl' }],
  })
  assert.deepEqual(readReply(message, queryOf('a')), { kind: 'failed' })
})

/** A response with records whose RDATA is given in wire format. */
function withData(type: RecordType, ...values: readonly (readonly number[])[]): Buffer {
  const head = responseTo(type, [])
  head.writeUInt16BE(values.length, 6)
  const code = TYPE_CODES[type]
  return Buffer.concat([
    head,
    ...values.map((data) =>
      Buffer.from([
        0xc0,
        12,
        code >> 8,
        code & 255,
        0,
        1,
        0,
        0,
        0,
        60,
        data.length >> 8,
        data.length & 255,
        ...data,
      ]),
    ),
  ])
}

test('malformed RDATA makes the whole response a failure', () => {
  const cases: readonly [string, RecordType, readonly number[]][] = [
    ['an address of 3 octets', 'a', [192, 0, 2]],
    ['an address of 5 octets', 'a', [192, 0, 2, 1, 0]],
    ['an IPv6 address of 4 octets', 'aaaa', [192, 0, 2, 1]],
    ['an MX record without exchange', 'mx', [0, 10]],
    ['an exchange that ends early', 'mx', [0, 10, 0, 0]],
    ['an exchange that points to itself', 'mx', [0, 10, 0xc0, 12 + NAME.length + 6 + 14]],
    ['a TXT record without text', 'txt', []],
    ['a character-string past its record', 'txt', [5, 0x61]],
    ['an SOA record without numbers', 'soa', [0, 0]],
    ['a CAA record of one octet', 'caa', [0]],
    ['a CAA record without tag', 'caa', [0, 0, 0x61]],
    ['a CAA tag past its record', 'caa', [0, 9, 0x61]],
    ['a CAA tag with a space', 'caa', [0, 1, 0x20]],
  ]
  for (const [what, type, data] of cases) {
    assert.deepEqual(readReply(withData(type, data), queryOf(type)), { kind: 'failed' }, what)
  }
})

test('compressed names cannot make a response larger than a message', () => {
  const label = [60, ...Array.from({ length: 60 }, () => 0x61)]
  const long = [0, 1, ...label, ...label, ...label, ...label.slice(0, 31).with(0, 30), 0]
  const at = 12 + NAME.length + 6 + 12 + 2
  const pointing = (preference: number) => [preference >> 8, preference & 255, 0xc0, at]
  const some = withData('mx', long, ...Array.from({ length: 200 }, (_, i) => pointing(i + 2)))
  assert.equal(readReply(some, queryOf('mx')).kind, 'answer')
  const many = withData('mx', long, ...Array.from({ length: 3_000 }, (_, i) => pointing(i + 2)))
  assert.ok(many.length < 65_536)
  assert.deepEqual(readReply(many, queryOf('mx')), { kind: 'failed' })
})

test('a long chain of compression pointers is rejected', () => {
  const start = 12 + NAME.length + 6 + 12
  // A TXT-like payload of pointers, each to the one before, which an MX record then uses.
  const chain = (length: number) => {
    const pointers = Array.from({ length }, (_, i) => {
      const target = i === 0 ? 12 : start + 2 * (i - 1)
      return [0xc0 | (target >> 8), target & 255]
    }).flat()
    const head = withData('mx', pointers, [
      0,
      1,
      0xc0 | ((start + 2 * (length - 1)) >> 8),
      (start + 2 * (length - 1)) & 255,
    ])
    // The first record is of a type that is skipped.
    head.writeUInt16BE(99, 12 + NAME.length + 6 + 2)
    return head
  }
  assert.deepEqual(readReply(chain(100), queryOf('mx')), found([{ preference: 1, exchange: NAME }]))
  assert.deepEqual(readReply(chain(200), queryOf('mx')), { kind: 'failed' })
})

test('agrees with the encoder on any records', () => {
  const host = fc
    .array(fc.stringMatching(/^[a-z0-9_-]{1,20}$/), { minLength: 1, maxLength: 6 })
    .map((labels) => labels.join('.'))
  const number = fc.nat({ max: 0xffffffff })
  const values: Record<RecordType, fc.Arbitrary<{ given: unknown; wanted: RecordValue }>> = {
    a: fc.ipV4().map((given) => ({ given, wanted: given })),
    aaaa: fc
      .tuple(fc.integer({ min: 1, max: 0xffff }), fc.integer({ min: 1, max: 0xffff }))
      .map(([a, b]) => `2001:db8:${a.toString(16)}::${b.toString(16)}`)
      .map((given) => ({ given, wanted: given })),
    mx: fc
      .record({ preference: fc.nat({ max: 65_535 }), exchange: host })
      .map((given) => ({ given, wanted: given })),
    txt: fc
      .array(fc.string({ unit: 'grapheme-ascii', maxLength: 255 }), { minLength: 1, maxLength: 4 })
      .map((given) => ({ given, wanted: given.join('') })),
    soa: fc
      .record({
        mname: host,
        rname: host,
        serial: number,
        refresh: number,
        retry: number,
        expire: number,
        minimum: number,
      })
      .map((given) => ({ given, wanted: given })),
    caa: fc
      .record({
        flags: fc.constantFrom(0, 128),
        tag: fc.stringMatching(/^[a-z0-9]{1,15}$/),
        value: fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
      })
      .map((given) => ({ given, wanted: given })),
  }
  const response = fc
    .constantFrom(...TYPES)
    .chain((type) => fc.tuple(fc.constant(type), fc.array(values[type], { minLength: 1, maxLength: 8 })))
  fc.assert(
    fc.property(response, ([type, all]) => {
      const message = responseTo(
        type,
        all.map(({ given }) => record(type, given)),
      )
      const reply = readReply(message, queryOf(type))
      assert.ok(reply.kind === 'answer' && reply.answer.kind === 'records')
      const texts = (list: readonly RecordValue[]) =>
        [...new Set(list.map((one) => JSON.stringify(one)))].toSorted()
      const wanted = all.map(({ wanted }) => wanted)
      assert.deepEqual(texts(reply.answer.records), texts(wanted))
    }),
    { numRuns: 500 },
  )
})

test('no octets make the reader throw', () => {
  const good = TYPES.map((type) => {
    const data = {
      a: '192.0.2.1',
      aaaa: '2001:db8::1',
      mx: { preference: 10, exchange: 'mail.registrado.cl' },
      txt: ['uno', 'dos'],
      soa: { mname: 'ns.registrado.cl', rname: 'h.cl', ...soa },
      caa: { flags: 0, tag: 'issue', value: 'ca.cl' },
    }[type]
    return { type, message: responseTo(type, [record(type, data), record(type, data)]) }
  })
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 10 })
  fc.assert(
    fc.property(
      fc.constantFrom(...good),
      edits,
      fc.nat(),
      fc.uint8Array({ maxLength: 200 }),
      ({ type, message }, bends, cut, tail) => {
        const bent = Buffer.from(message)
        for (const [at, octet] of bends) bent[at % bent.length] = octet
        readReply(bent, queryOf(type))
        readReply(bent.subarray(0, cut % bent.length), queryOf(type))
        readReply(Buffer.concat([bent.subarray(0, 12 + NAME.length + 6), tail]), queryOf(type))
      },
    ),
    { numRuns: 3_000 },
  )
})
