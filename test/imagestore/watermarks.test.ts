/** Names from the settings file in links: presets, and images laid over others. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { readConfig } from '../../src/server/config/config.ts'
import {
  animation,
  answerOf,
  bytesOf,
  expectedHash,
  ImageClient,
  plain,
  problem,
  solid,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'

const mark = await solid(40, 20, '#ff0000').png().toBuffer()
const photo = await solid(200, 100, '#0000ff').png().toBuffer()
const moving = await (await animation(200, 100, ['#0000ff', '#00ff00', '#ffffff'])).gif().toBuffer()

const folder = await temporaryFolder()
const path = join(folder.path, 'images.json')
const image = expectedHash(mark)
const settings = {
  presets: { ficha: 'w_100,f_png' },
  watermarks: { logo: { image, at: 'se', width: 20, margin: 5 } },
}
await writeFile(path, JSON.stringify(settings))
const { service, client, newClient } = await startImages({ flags: { 'image-settings': path } })
for (const bytes of [mark, photo, moving]) assert.equal((await client.upload(bytes)).status, 200)
after(() => folder[Symbol.asyncDispose]())

/** The colour at a place, by page. */
async function colours(bytes: Buffer, x: number, y: number): Promise<string[]> {
  const { pages = 1 } = await sharp(bytes).metadata()
  return Promise.all(
    Array.from({ length: pages }, async (_, page) => {
      const data = await sharp(bytes, { page })
        .toColourspace('srgb')
        .removeAlpha()
        .extract({ left: x, top: y, width: 1, height: 1 })
        .raw()
        .toBuffer()
      return data.toString('hex')
    }),
  )
}

test('a link can place, size and fade a watermark', async () => {
  const at = (modifier: string, x: number, y: number) =>
    client
      .link(`${expectedHash(photo)}&m=wm_logo,${modifier},f_png`)
      .then(bytesOf)
      .then((bytes) => colours(bytes, x, y))
  assert.deepEqual(await at('wmg_nw', 12, 12), ['ff0000'])
  assert.deepEqual(await at('wmg_nw', 180, 85), ['0000ff'])
  assert.deepEqual(await at('wmg_w,wms_60', 125, 50), ['ff0000'])
  assert.deepEqual(await at('wmo_50,wmg_nw', 12, 12), ['80007e'])
})

test('a watermark is placed by the settings file, and scales with the image', async () => {
  const bytes = await bytesOf(await client.link(`${expectedHash(photo)}&m=wm_logo,f_png`))
  const { width, height } = await sharp(bytes).metadata()
  assert.deepEqual([width, height], [200, 100])
  // 40 × 20, 10 from the right and from the bottom.
  for (const [x, y, colour] of [
    [150, 70, 'ff0000'],
    [189, 89, 'ff0000'],
    [149, 69, '0000ff'],
    [190, 90, '0000ff'],
    [0, 0, '0000ff'],
  ] as const) {
    assert.deepEqual(await colours(bytes, x, y), [colour], `${x}, ${y}`)
  }
  const half = await bytesOf(await client.link(`${expectedHash(photo)}&m=w_100,wm_logo,f_png`))
  assert.deepEqual(await colours(half, 80, 40), ['ff0000'])
  assert.deepEqual(await colours(half, 72, 40), ['0000ff'])
})

test('links whose meaning can change are not immutable, and their ETag changes with the definition', async () => {
  const hash = expectedHash(photo)
  const image = expectedHash(mark)
  const path = join(folder.path, 'changed.json')
  const settings = {
    presets: { ficha: 'w_90,f_png' },
    watermarks: { logo: { image, at: 'nw', width: 20, margin: 5 } },
  }
  await writeFile(path, JSON.stringify(settings))
  await using changed = await startService({ flags: { 'image-settings': path } })
  const after = new ImageClient(changed.url, changed.imageKey)
  for (const bytes of [mark, photo]) assert.equal((await after.upload(bytes)).status, 200)
  const headers = async (from: ImageClient, modifier: string) => {
    const response = await from.link(`${hash}&m=${modifier}`)
    await response.body?.cancel()
    return [response.headers.get('cache-control'), response.headers.get('etag')] as const
  }
  const dayLong = 'public, max-age=86400'
  for (const [modifier, isSame] of [
    ['ficha', false],
    ['wm_logo,f_png', false],
    ['thumb', true],
    ['w_20,h_20,c_fill,g_auto', true],
  ] as const) {
    // The second answer comes from memory.
    for (let times = 0; times < 2; times++) {
      const [[control, old], [newControl, etag]] = [
        await headers(client, modifier),
        await headers(after, modifier),
      ]
      assert.deepEqual([control, newControl], [dayLong, dayLong], modifier)
      assert.equal(etag === old, isSame, modifier)
    }
  }
  assert.equal((await headers(client, 'w_90,f_png'))[0], 'public, max-age=31536000, immutable')
})

test('on every frame of an animation', async () => {
  const bytes = await bytesOf(await client.link(`${expectedHash(moving)}&m=wm_logo`))
  assert.deepEqual(await colours(bytes, 170, 80), ['ff0000', 'ff0000', 'ff0000'])
  assert.deepEqual(await colours(bytes, 10, 10), ['0000ff', '00ff00', 'ffffff'])
})

test('only over images of the same application, and only while the watermark exists', async () => {
  const refusal = problem(400, 'El modificador wm_logo no es válido: su imagen no es de la misma aplicación')
  const others = await newClient('otras')
  const theirs = await solid(60, 60, '#00ff00').png().toBuffer()
  await others.upload(theirs)
  const ask = async (bytes: Buffer) => client.link(`${expectedHash(bytes)}&m=w_60,wm_logo`)
  assert.deepEqual(plain(await answerOf(await ask(theirs))), refusal)
  assert.equal((await ask(photo)).status, 200)
  await client.remove(expectedHash(mark))
  assert.deepEqual(plain(await answerOf(await ask(photo))), refusal)
  await client.upload(mark)
  assert.equal((await ask(photo)).status, 200)
  // What both hold, until the record of the application with the watermark expires.
  const common = await solid(70, 70, '#00ff00').png().toBuffer()
  for (const one of [client, others]) await one.upload(common)
  const account = "(SELECT id FROM accounts WHERE name = 'fotos')"
  await service.sql(
    `UPDATE images SET expires = 1 WHERE hash = '${expectedHash(common)}' AND account_id = ${account}`,
  )
  assert.deepEqual(plain(await answerOf(await ask(common))), refusal)
})

test('a settings file with faults prevents the start, with a line for each', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'images.json')
  await writeFile(path, '{"presets": {"thumb": "w_1", "x": "w_0"}}')
  const result = readConfig({ 'image-settings': path }, {})
  const from = `CATALEJO_IMAGE_SETTINGS: «${path}» (flag --image-settings)`
  assert.deepEqual(!result.ok && result.faults, [
    `${from}: presets: "thumb" is the name of a built-in one`,
    `${from}: presets: "x" has «w_0», which is not valid`,
  ])
  const missing = readConfig({ 'image-settings': join(folder.path, 'none') }, {})
  assert.equal(!missing.ok && missing.faults.length, 1)
})
