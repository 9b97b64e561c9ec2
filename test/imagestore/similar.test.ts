import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { openDatabase } from '../../src/storage/database/open.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { touchImages } from '../../src/imagestore/queries.ts'
import {
  gradient,
  ImageClient,
  NO_IMAGE,
  plain,
  problem,
  solid,
  stamped,
  type Answer,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { ManualClock, onTwoNodes, startService } from '../support/service.ts'

/** A picture with this dhash: columns that rise or fall as each bit says, in blocks that scaling leaves alone. */
async function toPicture(dhash: bigint, note = ''): Promise<Buffer> {
  const block = 16
  const data = Buffer.alloc(9 * block * 8 * block)
  for (let row = 0; row < 8; row++) {
    let level = 128
    for (let column = 0; column < 9; column++) {
      const bit = (dhash >> BigInt(63 - (row * 8 + column - 1))) & 1n
      if (column > 0) level += bit === 1n ? 12 : -12
      for (let y = row * block; y < (row + 1) * block; y++) {
        data.fill(level, y * 9 * block + column * block, y * 9 * block + (column + 1) * block)
      }
    }
  }
  const png = await sharp(data, { raw: { width: 9 * block, height: 8 * block, channels: 1 } })
    .png()
    .toBuffer()
  return note === '' ? png : stamped(png, note)
}

const moveBlob = (hash: string, dhash: string) => sql`UPDATE blobs SET dhash = ${dhash} WHERE hash = ${hash}`
const pretendImages = (images: number) => sql`UPDATE image_totals SET images = ${images}`

const toBits = (one: string, other: string) =>
  (BigInt(`0x${one}`) ^ BigInt(`0x${other}`)).toString(2).replaceAll('0', '').length

const toData = ({ body }: Answer): Readonly<Record<string, unknown>>[] => {
  assert.ok(Array.isArray(body['data']))
  assert.equal(body['count'], body['data'].length)
  return body['data']
}

const clock = new ManualClock('2026-03-01T00:00:00Z')
const stored: { hash: string; dhash: string }[] = []
const { service, client: fotos, newClient } = await startImages({ clock })
const diario = await newClient('diario')
const base = 0xf0e1_a2c3_5a96_3c78n
for (let i = 0; i < 24; i++) {
  // Each a few bits further than the one before, some twice under other bytes.
  const flips = Array.from({ length: i % 12 }, (_, k) => 1n << BigInt((k * 11 + i) % 64))
  const bytes = await toPicture(
    flips.reduce((value, bit) => value ^ bit, base),
    String(i),
  )
  const { status, body } = await fotos.upload(bytes, { name: `${i}.png` })
  assert.equal(status, 200)
  stored.push({ hash: String(body['hash']), dhash: String(body['dhash']) })
}
assert.equal((await diario.upload(await toPicture(base, 'ajena'))).status, 200)
const similar = async (query: Readonly<Record<string, string>>, client = fotos) =>
  client.call('GET', 'similar', query)

test('exactly the images within the distance, nearest first, as in get and list', async () => {
  const listed = new Map(toData(await fotos.list({ limit: '1024' })).map((row) => [row['hash'], row]))
  for (const { hash, dhash } of stored.slice(0, 8)) {
    for (const distance of [undefined, 0, 1, 3, 8, 16]) {
      const expected = stored
        .map((image) => ({ ...image, distance: toBits(image.dhash, dhash) }))
        .filter((image) => image.distance <= (distance ?? 10))
        .toSorted((a, b) => a.distance - b.distance || (a.dhash + a.hash < b.dhash + b.hash ? -1 : 1))
        .map((image) => ({ ...listed.get(image.hash), distance: image.distance }))
      const query = distance === undefined ? {} : { distance: String(distance) }
      const body = { status: 200, count: expected.length, dhash, data: expected }
      assert.deepEqual(plain(await similar({ hash, ...query })), { status: 200, body })
      assert.deepEqual(plain(await similar({ dhash, ...query })), { status: 200, body })
      assert.deepEqual(
        toData(await similar({ dhash: dhash.toUpperCase(), limit: '3', ...query })),
        expected.slice(0, 3),
      )
    }
  }
})

test('pictures without contrast resemble no other, whatever their colour', async () => {
  const flat = (background: string) => solid(64, 48, background).png().toBuffer()
  const nearlyFlat = await toPicture(1n)
  const hashes: string[] = []
  for (const bytes of [await flat('#c00'), await flat('#00c'), nearlyFlat]) {
    const { body } = await diario.upload(bytes)
    assert.equal(body['similar'], 0)
    hashes.push(String(body['hash']))
  }
  for (const hash of hashes)
    assert.deepEqual(
      toData(await similar({ hash }, diario)).map((image) => image['hash']),
      [hash],
    )
  assert.deepEqual(toData(await similar({ dhash: '0'.repeat(16), distance: '16' }, diario)), [])
  for (const hash of hashes) await diario.remove(hash)
})

test('mirrored=1 finds mirrored copies', async () => {
  const picture = await gradient(120, 80)
    .composite([
      { input: { create: { width: 30, height: 50, channels: 3, background: '#f60' } }, left: 8, top: 20 },
    ])
    .png()
    .toBuffer()
  const mirrored = await sharp(picture).flop().png().toBuffer()
  const [one, other] = [await diario.upload(picture), await diario.upload(mirrored)]
  const found = async (query: Record<string, string>) =>
    toData(await similar(query, diario)).map(({ hash }) => hash)
  const hash = String(one.body['hash'])
  assert.deepEqual(await found({ hash }), [hash])
  assert.deepEqual(await found({ hash, mirrored: '1' }), [other.body['hash']])
  assert.deepEqual(await found({ dhash: String(other.body['dhash']), mirrored: '1' }), [hash])
  for (const { body } of [one, other]) await diario.remove(String(body['hash']))
})

test('own images only: images of other applications are neither found nor accepted as query', async () => {
  const [mine] = stored
  assert.ok(mine !== undefined)
  assert.equal(toData(await similar({ dhash: mine.dhash }, diario)).length, 1)
  assert.deepEqual(plain(await similar({ hash: mine.hash }, diario)), NO_IMAGE)
})

test('an upload counts the images that a search finds immediately afterwards, without deleted ones', async () => {
  for (let i = 0; i < 4; i++) {
    const { body } = await diario.upload(await toPicture(0xaaaa_5555_ffff_0000n, `nueva ${i}`))
    assert.equal(body['similar'], i)
    assert.equal(toData(await similar({ hash: String(body['hash']), distance: '4' }, diario)).length, i + 1)
    if (i < 3) continue
    await diario.remove(String(body['hash']))
    assert.equal(toData(await similar({ dhash: String(body['dhash']), distance: '4' }, diario)).length, i)
  }
})

test(
  'images stored by another process are found by the next search, also if their changes were deleted unread',
  { skip: onTwoNodes },
  async () => {
    const flags = { data: service.data, 'database-url': service.app.context.config.databaseUrl }
    const result = readConfig(flags, {})
    assert.ok(result.ok)
    const other = await openDatabase(result.config)
    try {
      const { hash, dhash } = stored[0] ?? { hash: '', dhash: '' }
      assert.equal(toData(await similar({ dhash: '0123456789abcdef', distance: '0' })).length, 0)
      const far = ['0123456789abcdef', 'fedcba9876543210']
      for (const [i, place] of far.entries()) {
        await other.transaction(async (tx) => {
          await tx.run(moveBlob(hash, place))
          await tx.run(touchImages(hash))
          if (i === 0) return
          // Ids continue from the newest change.
          await tx.run(
            sql`INSERT INTO accounts (name, service, created_at) VALUES ('último', 'imagestore', 0)`,
          )
          await tx.run(sql`UPDATE change_log SET floor = (SELECT max(id) FROM changes)`)
          await tx.run(sql`DELETE FROM changes WHERE topic = 'image'`)
        })
        assert.deepEqual(
          toData(await similar({ dhash: place, distance: '0' })).map((row) => row['hash']),
          [hash],
        )
      }
      await other.transaction((tx) => tx.run(moveBlob(hash, dhash)))
    } finally {
      await other.close()
    }
  },
)

for (const [what, query, answer] of [
  [
    'neither hash nor dhash',
    {},
    problem(400, 'La solicitud debe llevar el parámetro hash o el parámetro dhash'),
  ],
  [
    'both',
    { hash: 'a'.repeat(32), dhash: '0'.repeat(16) },
    problem(400, 'La solicitud debe llevar el parámetro hash o el parámetro dhash'),
  ],
  ['a short dhash', { dhash: 'abc' }, problem(400, 'El parámetro dhash debe tener 16 dígitos hexadecimales')],
  [
    'a distance past 16',
    { dhash: '0'.repeat(16), distance: '17' },
    problem(400, 'El parámetro distance debe ser un entero entre 0 y 16'),
  ],
  [
    'a limit of 0',
    { dhash: '0'.repeat(16), limit: '0' },
    problem(400, 'El parámetro limit debe ser un entero entre 1 y 1024'),
  ],
  ['an unknown hash', { hash: 'a'.repeat(32) }, NO_IMAGE],
] as const) {
  test(`refused: ${what}`, async () => {
    assert.deepEqual(plain(await similar(query)), answer)
  })
}

test('list groups images of the same picture', async () => {
  const { key } = await service.newKey('grupos', 'imagestore')
  const client = new ImageClient(service.url, key)
  const other = await gradient(30, 20).png().toBuffer()
  for (const [name, bytes] of [
    ['a1', await toPicture(1n, 'a1')],
    ['a2', await toPicture(1n, 'a2')],
    ['b1', other],
    ['a3', await toPicture(1n, 'a3')],
  ] as const) {
    await client.upload(bytes, { name })
    clock.advance(1_000)
  }
  const grouped = async () =>
    toData(await client.list({ group: '' })).map((row) => [row['name'], row['duplicates']])
  assert.deepEqual(await grouped(), [
    ['a3', 2],
    ['b1', 0],
  ])
  for (const off of ['false', '0'])
    assert.equal(toData(await client.list({ group: off })).length, toData(await client.list()).length)
  const [newest] = toData(await client.list({ limit: '1' }))
  await client.remove(String(newest?.['hash']))
  assert.deepEqual(await grouped(), [
    ['b1', 0],
    ['a2', 1],
  ])
})

test('without memory for them, searches use the database', { skip: onTwoNodes }, async () => {
  await using service = await startService({ limits: { similarBytes: 2 ** 20 } })
  const fotos = new ImageClient(service.url, service.imageKey)
  const { body } = await fotos.upload(await gradient(30, 20).png().toBuffer())
  // As if there were a million.
  await service.app.context.database.transaction((tx) => tx.run(pretendImages(1_000_000)))
  const again = await fotos.upload(stamped(await gradient(30, 20).png().toBuffer(), 'otra'))
  assert.deepEqual([body['similar'], again.status], [0, 200])
  const answer = await fotos.call('GET', 'similar', { hash: String(body['hash']) })
  assert.equal(toData(answer).length, 2)
})
