import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { LIST, record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

/** The list index is stored in this file between starts, from this many records on. */
const FILE = 'lists'
const ENOUGH = 20_000

const clock = new ManualClock('2025-06-01T12:00:00Z')
const services: TestService[] = []
after(async () => {
  for (const service of services.toReversed()) await service[Symbol.asyncDispose]()
})

async function start(data: string, flags: Record<string, string> = {}): Promise<TestService> {
  const service = await startService({ data, flags, clock })
  services.push(service)
  return service
}

const folder = () => mkdtemp(join(tmpdir(), 'catalejo-kept-'))

const SYLLABLES = ['ca', 'sa', 'lo', 'ñi', 'mi-', 'x', '9', 'tú', 'ri', 'za']
function records(count: number, prefix = '') {
  return Array.from({ length: count }, (_, i) => {
    const text = [...String(i * 7_919)].map((digit) => SYLLABLES[Number(digit)]).join('')
    return record(`${prefix}${text}${i}`, {
      status: i % 5 === 0 ? 0 : 1,
      date_reg: `2025-01-${String((i % 28) + 1).padStart(2, '0')} 00:00:0${i % 10}`,
      ...(i % 9 === 0 && { agent: 'Águila' }),
    })
  })
}

const QUERIES: readonly Record<string, string>[] = [
  { limit: '1024' },
  { search: 'calo', sort: 'asc' },
  { search: 'xn--cas' },
  { search: 'águ', agent: '' },
  { pattern: '*sa*7?1' },
  { last_deleted: '700', search: 'ri' },
  { dis: '' },
]

/** All that lists say. */
async function answers(service: TestService): Promise<string> {
  const hash = createHash('sha256')
  for (const query of QUERIES) {
    const { status, body } = await call(service, LIST, { query: { api: service.domainKey, ...query } })
    assert.equal(status, 200)
    hash.update(JSON.stringify(body))
  }
  return hash.digest('hex')
}

async function metric(service: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(new RegExp(`^catalejo_search_${name} (\\d+)`, 'm').exec(text)?.[1])
}

/** Starts on the data, and stops: what lists say from memory, and whether that came out of the file. */
async function visit(data: string): Promise<{ restored: boolean; lists: string; log: string }> {
  const service = await start(data)
  await eventually(async () => (await metric(service, 'ready')) === 1, 'the index')
  const lists = await answers(service)
  const restored = (await metric(service, 'restored')) === 1
  await service.stop()
  return { restored, lists, log: await service.log() }
}

/** What the database says of the same. */
async function fromDatabase(
  data: string,
  write?: (service: TestService) => Promise<unknown>,
): Promise<string> {
  const service = await start(data, { 'search-memory': '0' })
  await write?.(service)
  const lists = await answers(service)
  await service.stop()
  return lists
}

let data = ''
let file = ''
let kept = Buffer.alloc(0)
let truth = ''
before(async () => {
  data = await folder()
  file = join(data, FILE)
  truth = await fromDatabase(data, async (service) => {
    await stored(service, records(ENOUGH))
    await update(service, [{ domain: 'ca0', discarded: 1, revision: 1 }])
  })
  const { restored, lists } = await visit(data)
  assert.deepEqual({ restored, lists }, { restored: false, lists: truth })
  kept = await readFile(file)
})

test('a start restores the index from its file', async () => {
  const { restored, lists, log } = await visit(data)
  assert.deepEqual({ restored, lists }, { restored: true, lists: truth })
  assert.doesNotMatch(log, /lists/)
  // Nothing was written, so the file was not written again.
  assert.ok((await readFile(file)).equals(kept))
})

test('an index of few records is not stored', async () => {
  const few = await folder()
  await fromDatabase(few, (service) => stored(service, records(100)))
  await visit(few)
  assert.equal(existsSync(join(few, FILE)), false)
})

test('a restored index has later changes, and no expired records', async () => {
  const marks = [
    { domain: 'ca0', discarded: 0 },
    { domain: 'saca9ri10', status: 0 },
    { domain: 'ca9ri9lo1', discarded: 1 },
  ]
  truth = await fromDatabase(data, async (service) => {
    await stored(service, records(60, 'nuevo'))
    for (const mark of marks) await update(service, [mark])
  })
  assert.deepEqual(pick(await visit(data)), { restored: true, lists: truth })
  clock.advance(8 * 24 * 3_600_000)
  truth = await fromDatabase(data)
  assert.deepEqual(pick(await visit(data)), { restored: true, lists: truth })
  kept = await readFile(file)
})

const pick = ({ restored, lists }: { restored: boolean; lists: string }) => ({ restored, lists })

/** Where the head begins, after its length and checksum. */
const HEAD_AT = 24

/** The file with its head changed, and all checksums right. */
function withHead(change: (head: string) => string): Buffer {
  const end = HEAD_AT + kept.readUInt32LE(HEAD_AT - 8)
  const head = Buffer.from(change(kept.toString('utf8', HEAD_AT, end)))
  assert.equal(head.length, end - HEAD_AT)
  const prefix = Buffer.from(kept.subarray(0, HEAD_AT))
  prefix.writeUInt32LE(crc32(head), HEAD_AT - 4)
  return Buffer.concat([prefix, head, kept.subarray(end)])
}

function flipped(at: number): Buffer {
  const bytes = Buffer.from(kept)
  bytes[at] = (bytes[at] ?? 0) ^ 0x10
  return bytes
}

const DAMAGES: readonly [name: string, damage: () => Buffer][] = [
  ['empty, as after a power cut', () => Buffer.alloc(0)],
  ['ends within its columns', () => kept.subarray(0, kept.length / 2)],
  ['ends too early by a byte', () => kept.subarray(0, -1)],
  ['is too long by a byte', () => Buffer.concat([kept, Buffer.alloc(1)])],
  ['is all zeros', () => Buffer.alloc(kept.length)],
  ['has a bit wrong in its head', () => flipped(300)],
  ['has a bit wrong in its columns', () => flipped(Math.floor(kept.length * 0.7))],
  ['has pages of zeros', () => Buffer.concat([kept.subarray(0, -4_096), Buffer.alloc(4_096)])],
  [
    'claims a head of 4 GB',
    () => Buffer.concat([kept.subarray(0, HEAD_AT - 8), Buffer.alloc(8, 0xff), kept.subarray(HEAD_AT)]),
  ],
  [
    'is of an older version',
    () => withHead((head) => head.replace(/lists-\d [\d.]+/, (all) => all.replaceAll(/\d/g, '0'))),
  ],
  [
    'is of another instance',
    () => withHead((head) => head.replace(/"cursor":"[0-9a-f]{12}/, '"cursor":"0123456789ab')),
  ],
  [
    'is of a log that went another way',
    () =>
      withHead((head) =>
        head.replace(/("witness.*?,\d+)\d/, (all, start) => `${start}${all.endsWith('0') ? 1 : 0}`),
      ),
  ],
]

for (const [name, damage] of DAMAGES) {
  test(`a file that ${name} is ignored and replaced`, async () => {
    const bytes = damage()
    assert.ok(!bytes.equals(kept))
    await writeFile(file, bytes)
    assert.deepEqual(pick(await visit(data)), { restored: false, lists: truth })
    const rewritten = await readFile(file)
    assert.ok(!rewritten.equals(bytes) && rewritten.length > ENOUGH * 50)
  })
}

test('a database restored from an older state does not use the file', async () => {
  const service = await start(data, { 'search-memory': '0' })
  await service.stop()
  await visit(data)
  await service.sql('UPDATE changes SET at = at - 1')
  assert.deepEqual(pick(await visit(data)), { restored: false, lists: truth })
})

test('a change log with missing changes does not use the file', async () => {
  const service = await start(data, { 'search-memory': '0' })
  await stored(service, records(60, 'mas'))
  truth = await answers(service)
  await service.stop()
  await service.sql(`UPDATE change_log SET floor = (SELECT max(id) - 1 FROM changes)`)
  assert.deepEqual(pick(await visit(data)), { restored: false, lists: truth })
  assert.deepEqual(pick(await visit(data)), { restored: true, lists: truth })
})

test('incomplete files of dead processes are removed, those of live ones are kept', async () => {
  await rm(file)
  await writeFile(`${file}.new`, 'x')
  await visit(data)
  assert.deepEqual([existsSync(file), await readFile(`${file}.new`, 'utf8')], [false, 'x'])
  for (const hours of [-1, 1]) {
    await rm(file, { force: true })
    await writeFile(`${file}.new`, 'x')
    const then = new Date(Date.now() + hours * 3_600_000)
    await utimes(`${file}.new`, then, then)
    await visit(data)
    assert.deepEqual([existsSync(file), existsSync(`${file}.new`)], [true, false])
  }
})

test('if the file can be neither read nor written, lists still work, and the log says so', async () => {
  await rm(file)
  await mkdir(file)
  const { restored, lists, log } = await visit(data)
  assert.deepEqual({ restored, lists }, { restored: false, lists: truth })
  assert.match(log, /the stored list index could not be read/)
  assert.match(log, /the list index could not be stored for the next start/)
  assert.equal(existsSync(`${file}.new`), false)
})
