import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode, encode, type Answer as PacketRecord, type Packet } from 'dns-packet'
import fc from 'fast-check'
import { type Reply, RECORD_TYPES, type QueryType, type RecordType, type RecordValue } from './classify.ts'
import { createQuery, messageId, messageWithId, readReply, type Query } from './message.ts'

const AA = 0x0400
const RA = 0x0080
const NAME = 'registrado.cl'

function createTestQuery(type: QueryType = 'ns', name = NAME): Query {
  const query = createQuery(name, type)
  assert.ok(query)
  return query
}

/** A response to a query for NAME. */
const respond = (parts: Packet, type: QueryType = 'ns'): Buffer =>
  encode({
    type: 'response',
    id: 7,
    flags: RA,
    questions: [{ name: NAME, type: RECORD_TYPES[type], class: 'IN' }],
    ...parts,
  })

const ns = (name: string, ttl = 300, data = 'ns1.hosting.cl', klass: 'IN' | 'CH' = 'IN'): PacketRecord => ({
  type: 'NS',
  name,
  ttl,
  class: klass,
  data,
})
const soa = (name: string, ttl = 300, minimum = 60): PacketRecord => ({
  type: 'SOA',
  name,
  ttl,
  class: 'IN',
  data: { mname: 'ns.cl', rname: 'h.cl', serial: 1, refresh: 2, retry: 3, expire: 4, minimum },
})
const cname = (name: string, data: string, ttl = 300): PacketRecord => ({
  type: 'CNAME',
  name,
  ttl,
  class: 'IN',
  data,
})
const opt = (extendedRcode: number): PacketRecord => ({
  type: 'OPT',
  name: '.',
  udpPayloadSize: 1_232,
  extendedRcode,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
  options: [],
})

const found = (ttl: number): Reply => ({
  kind: 'answer',
  answer: { kind: 'found', servers: ['ns1.hosting.cl'] },
  ttl,
})
const negative = (kind: 'empty' | 'no-such-name', ttl: number): Reply => ({
  kind: 'answer',
  answer: { kind },
  ttl,
})
const failed: Reply = { kind: 'failed' }
const refused: Reply = { kind: 'refused' }

const RESPONSES: readonly [string, Packet, Reply][] = [
  ['name servers in the answer', { answers: [ns(NAME, 90), ns(NAME, 80)] }, found(80)],
  ['name servers of another name', { answers: [ns('otro.cl')] }, negative('empty', 0)],
  ['name servers of another class', { answers: [ns(NAME, 60, 'ns1.cl', 'CH')] }, negative('empty', 0)],
  ['a TTL with its highest bit set', { answers: [ns(NAME, 0x80000000)] }, found(0)],
  ['name servers in upper case', { answers: [ns(NAME.toUpperCase(), 60, 'NS1.Hosting.CL')] }, found(60)],
  ['only invalid host names', { answers: [ns(NAME, 60, 'ñ.cl'), ns(NAME, 60, '.')] }, failed],
  ['an invalid host name', { answers: [ns(NAME, 60, '<b>.cl'), ns(NAME)] }, found(60)],
  ['a delegation', { flags: 0, authorities: [ns(NAME)] }, found(300)],
  ['a delegation by a forwarder', { authorities: [ns(NAME)] }, found(300)],
  ['an authoritative "delegation"', { flags: AA, authorities: [ns(NAME)] }, failed],
  ['a referral upward', { flags: 0, authorities: [ns('cl')] }, failed],
  ['a referral to the root', { authorities: [ns('.')] }, failed],
  ['a referral astray', { flags: 0, authorities: [ns('a.registrado.cl')] }, failed],
  ['NODATA, authoritative', { flags: AA, authorities: [soa('cl')] }, negative('empty', 60)],
  ['NODATA, SOA TTL below its minimum', { authorities: [soa('cl', 5)] }, negative('empty', 5)],
  ['NODATA, SOA and the zone itself', { authorities: [soa('cl'), ns('cl')] }, negative('empty', 60)],
  ['NODATA of the root', { authorities: [soa('.')] }, negative('empty', 60)],
  ['NODATA, recursive, without SOA', {}, negative('empty', 0)],
  ['NODATA, authoritative, without SOA', { flags: AA }, failed],
  ['NODATA from a non-authoritative server', { flags: 0, authorities: [soa('cl')] }, failed],
  ['an SOA of a zone elsewhere', { flags: AA, authorities: [soa('gistrado.cl')] }, failed],
  ['NXDOMAIN', { flags: RA | 3, authorities: [soa('cl')] }, negative('no-such-name', 60)],
  ['NXDOMAIN without SOA', { flags: RA | 3 }, negative('no-such-name', 0)],
  ['NXDOMAIN from a non-authoritative server', { flags: 3 }, failed],
  ['an alias with name servers', { answers: [cname(NAME, 'b.cl', 30), ns('b.cl')] }, found(30)],
  ['an alias without', { answers: [cname(NAME, 'b.cl')], authorities: [soa('b.cl')] }, negative('empty', 60)],
  [
    'an alias of a missing name',
    { flags: RA | 3, answers: [cname(NAME, 'b.cl', 30)] },
    negative('empty', 30),
  ],
  ['aliases in a circle', { answers: [cname(NAME, 'b.cl'), cname('b.cl', NAME)] }, negative('empty', 300)],
  ['SERVFAIL with name servers', { flags: RA | 2, answers: [ns(NAME)] }, failed],
  ['FORMERR', { flags: RA | 1 }, failed],
  ['NOTIMP', { flags: RA | 4 }, refused],
  ['REFUSED', { flags: RA | 5 }, refused],
  ['NOTAUTH', { flags: RA | 9 }, refused],
  ['YXDOMAIN', { flags: RA | 6 }, failed],
  ['BADVERS', { authorities: [soa('cl')], additionals: [opt(1)] }, failed],
  ['NOERROR with EDNS', { answers: [ns(NAME)], additionals: [opt(0)] }, found(300)],
]

for (const [what, parts, expected] of RESPONSES) {
  test(`${what}`, () => assert.deepEqual(readReply(respond(parts), createTestQuery()), expected))
}

test('a query requests recursion and an EDNS size of 1,232 octets', () => {
  const message = decode(messageWithId(createTestQuery(), 0xbeef))
  const [question] = message.questions ?? []
  const [option] = message.additionals ?? []
  assert.deepEqual([message.id, message.flags], [0xbeef, 0x0100])
  assert.deepEqual({ ...question }, { name: NAME, type: 'NS', class: 'IN' })
  assert.equal(option?.type === 'OPT' && option.udpPayloadSize, 1_232)
})

test('each message has its own buffer', () => {
  const query = createTestQuery()
  const first = messageWithId(query, 1)
  messageWithId(query, 2)
  assert.equal(messageId(first), 1)
  assert.equal(messageId(first.subarray(0, 11)), undefined)
})

test('names that cannot be encoded have no query', () => {
  for (const name of ['', '.', '.cl', 'cl.', 'a..b', 'a b.cl', 'á.cl', `${'x'.repeat(64)}.cl`]) {
    assert.equal(createQuery(name), undefined, name)
  }
  const longest = `${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(63)}.${'x'.repeat(61)}`
  assert.equal(longest.length, 253)
  assert.equal(decode(messageWithId(createTestQuery('ns', longest), 1)).questions?.[0]?.name, longest)
  assert.equal(createQuery(`${longest}x`), undefined)
})

test('a server may change the case of the question', () => {
  const message = respond({ answers: [ns(NAME)] })
  message.write('ReGiStRaDo', 13, 'latin1')
  assert.deepEqual(readReply(message, createTestQuery()), found(300))
})

test('a message that does not repeat the question is not a reply', () => {
  const answers = [ns(NAME)]
  const good = respond({ answers })
  const edit = (change: (message: Buffer) => void): Buffer => {
    const copy = Buffer.from(good)
    change(copy)
    return copy
  }
  const messages = {
    'another name': respond({ answers, questions: [{ name: 'registrada.cl', type: 'NS' }] }),
    'another type': respond({ answers, questions: [{ name: NAME, type: 'A' }] }),
    'another class': respond({ answers, questions: [{ name: NAME, type: 'NS', class: 'CH' }] }),
    'two questions': respond({ questions: [0, 1].map(() => ({ name: NAME, type: 'NS' })) }),
    'no question': respond({ questions: [] }),
    'NXDOMAIN without question': respond({ questions: [], flags: RA | 3 }),
    'a query': edit((message) => message.writeUInt16BE(0, 2)),
    'another opcode': edit((message) => message.writeUInt16BE(0xa800, 2)),
    'a cut header': good.subarray(0, 11),
    nothing: Buffer.alloc(0),
  }
  for (const [what, message] of Object.entries(messages)) {
    assert.deepEqual(readReply(message, createTestQuery()), { kind: 'mismatch' }, what)
  }
  assert.deepEqual(readReply(respond({ questions: [], flags: RA | 1 }), createTestQuery()), failed)
  assert.deepEqual(readReply(respond({ questions: [], flags: RA | 5 }), createTestQuery()), refused)
})

test('truncation is detected even if a record is cut', () => {
  const message = respond({ answers: [ns(NAME)], flags: RA | 0x0200 })
  assert.deepEqual(readReply(message.subarray(0, -3), createTestQuery()), { kind: 'truncated' })
})

const record = (type: RecordType, data: unknown): PacketRecord =>
  // Tests encode any data.
  ({ name: NAME, type: RECORD_TYPES[type], class: 'IN', ttl: 60, data }) as PacketRecord

const records = (values: readonly RecordValue[]): Reply => ({
  kind: 'answer',
  answer: { kind: 'records', records: values },
  ttl: 60,
})

function assertRead(type: RecordType, given: readonly unknown[], expected: readonly RecordValue[]): void {
  const message = respond({ answers: given.map((data) => record(type, data)) }, type)
  assert.deepEqual(readReply(message, createTestQuery(type)), records(expected))
}

const SOA = { serial: 7, refresh: 1, retry: 2, expire: 3, minimum: 0xffffffff }

test('records of each type are read, sorted and without duplicates', () => {
  assertRead('a', ['192.0.2.10', '192.0.2.1', '192.0.2.10'], ['192.0.2.1', '192.0.2.10'])
  assertRead(
    'aaaa',
    ['2001:db8:0:0:1::1', '::ffff:192.0.2.1', '1:0:0:2:0:0:0:3'],
    ['1:0:0:2::3', '2001:db8::1:0:0:1', '::ffff:192.0.2.1'],
  )
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
    'mx',
    [{ preference: 1, exchange: 'a b\u0000ñ.cl' }],
    [{ preference: 1, exchange: 'a\\032b\\000\\195\\177.cl' }],
  )
  assertRead(
    'txt',
    [['v=spf1 ', 'include:_spf.ejemplo.cl', ' -all']],
    ['v=spf1 include:_spf.ejemplo.cl -all'],
  )
  assertRead('txt', [['']], [''])
  assertRead('txt', [['ñandú']], ['ñandú'])
  assertRead('txt', [Buffer.from([0x61, 0xff])], ['a\u{fffd}'])
  assertRead('soa', [{ mname: 'NS.cl', rname: 'h.cl', ...SOA }], [{ mname: 'ns.cl', rname: 'h.cl', ...SOA }])
  assertRead(
    'caa',
    [
      { flags: 128, tag: 'issue', value: 'letsencrypt.org' },
      { flags: 0, tag: 'IODEF', value: 'mailto:a@ejemplo.cl' },
    ],
    [
      { flags: 0, tag: 'iodef', value: 'mailto:a@ejemplo.cl' },
      { flags: 128, tag: 'issue', value: 'letsencrypt.org' },
    ],
  )
})

test('a CNAME chain leads to the records', () => {
  const answers = [
    cname(NAME, 'a.cl', 30),
    { ...record('a', '192.0.2.4'), name: 'b.cl' },
    cname('a.cl', 'b.cl'),
  ]
  const message = respond({ answers: [...answers, record('a', '192.0.2.1')] }, 'a')
  assert.deepEqual(readReply(message, createTestQuery('a')), { ...records(['192.0.2.4']), ttl: 30 })
})

test('a referral says nothing about records', () => {
  const message = respond({ flags: 0, authorities: [ns(NAME)] }, 'a')
  assert.deepEqual(readReply(message, createTestQuery('a')), failed)
})

test('malformed records make the response a failure', () => {
  const cases: readonly [string, RecordType, readonly number[]][] = [
    ['an address of 3 octets', 'a', [192, 0, 2]],
    ['an IPv6 address of 4 octets', 'aaaa', [192, 0, 2, 1]],
    ['an MX record without exchange', 'mx', [0, 10]],
    ['an exchange that points to itself', 'mx', [0, 10, 0xc0, 12 + NAME.length + 6 + 14]],
    ['a TXT record without text', 'txt', []],
    ['a character-string past its record', 'txt', [5, 0x61]],
    ['an SOA record without numbers', 'soa', [0, 0]],
    ['a CAA record of one octet', 'caa', [0]],
    ['a CAA record without tag', 'caa', [0, 0, 0x61]],
    ['a CAA tag with a space', 'caa', [0, 1, 0x20]],
  ]
  for (const [what, type, data] of cases) {
    const code = respond({ answers: [record(type, SAMPLES[type])] }, type).readUInt16BE(
      12 + NAME.length + 6 + NAME.length + 2,
    )
    const head = respond({}, type)
    head.writeUInt16BE(1, 6)
    const header = [0xc0, 12, code >> 8, code & 255, 0, 1, 0, 0, 0, 60, 0, data.length]
    const message = Buffer.concat([head, Buffer.from([...header, ...data])])
    assert.deepEqual(readReply(message, createTestQuery(type)), failed, what)
  }
})

const SAMPLES: Readonly<Record<RecordType, unknown>> = {
  a: '192.0.2.1',
  aaaa: '2001:db8::1',
  mx: { preference: 10, exchange: 'mail.registrado.cl' },
  txt: ['uno', 'dos'],
  soa: { mname: 'ns.registrado.cl', rname: 'h.cl', ...SOA },
  caa: { flags: 0, tag: 'issue', value: 'ca.cl' },
}

test('no octets make the reader throw, or return a name that is none', () => {
  const goods = [
    { type: 'ns' as const, message: respond({ answers: [ns(NAME), ns(NAME, 1, 'ns2.cl')] }) },
    ...(['a', 'aaaa', 'mx', 'txt', 'soa', 'caa'] as const).map((type) => ({
      type,
      message: respond({ answers: [record(type, SAMPLES[type]), record(type, SAMPLES[type])] }, type),
    })),
  ]
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 10 })
  fc.assert(
    fc.property(
      fc.constantFrom(...goods),
      edits,
      fc.nat(),
      fc.uint8Array({ maxLength: 200 }),
      ({ type, message }, changes, cut, tail) => {
        const query = createTestQuery(type)
        const edited = Buffer.from(message)
        for (const [at, octet] of changes) edited[at % edited.length] = octet
        const reply = readReply(edited, query)
        if (reply.kind === 'answer' && reply.answer.kind === 'found') {
          for (const server of reply.answer.servers) assert.match(server, /^[a-z0-9_-][a-z0-9_.-]*$/)
        }
        readReply(edited.subarray(0, cut % edited.length), query)
        readReply(Buffer.concat([edited.subarray(0, 12 + NAME.length + 6), tail]), query)
      },
    ),
    { numRuns: 1_000 },
  )
})
