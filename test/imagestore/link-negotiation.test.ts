/** `f_auto`: what the client's headers make of a link, and what is said of it to caches. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { animation, bytesOf, expectedHash, gradient, ImageClient, noise, solid } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'

/** Clouds, as smooth as a photograph: at a width of 200 AVIF has the fewest bytes, then WebP, then JPEG. */
const clouds = await noise(360, 240).blur(4).normalise().png().toBuffer()
const photo = await sharp(clouds).jpeg({ quality: 95 }).toBuffer()
/** Few colours and long edges. */
const graphic = await sharp(
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="360" height="240"><circle r="180" fill="#369"/></svg>',
  ),
)
  .png({ palette: true })
  .toBuffer()
const gray = await sharp(clouds).grayscale().toColourspace('b-w').png().toBuffer()
const tiny = await solid(32, 32, '#369').png().toBuffer()
const still = await gradient(60, 40).webp().toBuffer()
const gif = await (await animation(60, 40, ['#f00', '#0f0', '#00f'])).gif().toBuffer()
const CHROME = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'

const byAccept: readonly (readonly [accept: string | undefined, mime: string])[] = [
  [CHROME, 'image/avif'],
  ['image/webp,*/*', 'image/webp'],
  ['IMAGE/WebP', 'image/webp'],
  // Not named, so perhaps not understood.
  ['*/*', 'image/jpeg'],
  ['image/*', 'image/jpeg'],
  [undefined, 'image/jpeg'],
  ['', 'image/jpeg'],
  ['text/html', 'image/jpeg'],
  ['image/avif;q=0,image/webp', 'image/webp'],
  ['image/avif;q=0.5,image/webp;q=0.9', 'image/webp'],
  ['image/avif;q=0.9, image/webp;q=0.9', 'image/avif'],
  ['image/jpeg,image/avif;q=0.9,image/webp;q=0.9', 'image/jpeg'],
  ['image/avif;q=nonsense,image/webp', 'image/webp'],
  ['image/avif;v=1;q=0.1,image/*;q=0.2', 'image/jpeg'],
  [',;,=;q=', 'image/jpeg'],
]

const { client } = await startImages()
for (const bytes of [photo, still, gif, clouds, graphic, gray, tiny]) await client.upload(bytes)

const ask = (bytes: Buffer, modifier: string, headers: Record<string, string>, init: RequestInit = {}) =>
  client.link(`${expectedHash(bytes)}&m=${modifier}`, { ...init, headers })

for (const [accept, mime] of byAccept) {
  test(`Accept: ${accept} takes ${mime}`, async () => {
    // What is sent without it, `fetch` sends with its own.
    const response = await ask(photo, 'w_200,f_auto', { accept: accept ?? '*/*' })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), mime)
    assert.equal(response.headers.get('vary'), 'accept')
    const { width, height } = await sharp(await bytesOf(response)).metadata()
    assert.deepEqual([width, height], [200, 133])
  })
}

test('Vary lists exactly the headers that affect the response, and no client hint does', async () => {
  const hints = { dpr: '2', 'sec-ch-dpr': '2', width: '50', 'sec-ch-width': '50', 'save-data': 'on' }
  for (const [modifier, vary] of [
    ['w_60,f_auto', 'accept'],
    ['f_auto', 'accept'],
    ['w_60', null],
    ['w_60,f_webp', null],
  ] as const) {
    const answers = [await ask(photo, modifier, {}), await ask(photo, modifier, hints)]
    assert.deepEqual(
      answers.map(({ headers }) => headers.get('vary')),
      [vary, vary],
    )
    const [plain, hinted] = await Promise.all(answers.map(bytesOf))
    assert.ok(plain !== undefined && hinted?.equals(plain) === true, modifier)
  }
})

test('each variant has its own ETag, which matches only that variant', async () => {
  const avif = await ask(photo, 'w_200,f_auto', { accept: CHROME })
  const jpeg = await ask(photo, 'w_200,f_auto', {})
  const [tag = '', other = ''] = [avif, jpeg].map((response) => response.headers.get('etag') ?? '')
  assert.notEqual(tag, other)
  for (let times = 0; times < 3; times++) {
    const known = await ask(photo, 'w_200,f_auto', { accept: CHROME, 'if-none-match': tag })
    assert.deepEqual([known.status, known.headers.get('vary')], [304, avif.headers.get('vary')])
    const unknown = await ask(photo, 'w_200,f_auto', { 'if-none-match': tag })
    assert.deepEqual([unknown.status, unknown.headers.get('content-type')], [200, 'image/jpeg'])
  }
})

test('HEAD and ranges refer to the negotiated format', async () => {
  const whole = await bytesOf(await ask(photo, 'w_60,f_auto', { accept: 'image/webp' }))
  const head = await ask(photo, 'w_60,f_auto', { accept: 'image/webp' }, { method: 'HEAD' })
  assert.equal(head.headers.get('content-length'), String(whole.byteLength))
  const part = await ask(photo, 'w_60,f_auto', { accept: 'image/webp', range: 'bytes=0-3' })
  assert.deepEqual([part.status, await part.text()], [206, 'RIFF'])
})

test('an animation stays animated', async () => {
  const moving = await ask(gif, 'w_30,f_auto', { accept: CHROME })
  assert.equal(moving.headers.get('content-type'), 'image/webp')
  assert.equal((await sharp(await bytesOf(moving)).metadata()).pages, 3)
  const one = await ask(gif, 'w_30,frame_1,f_auto', { accept: CHROME })
  assert.equal((await sharp(await bytesOf(one)).metadata()).pages ?? 1, 1)
})

test('an image already in the right format is sent unchanged', async () => {
  const same = await ask(still, 'f_auto', { accept: 'image/webp' })
  assert.ok((await bytesOf(same)).equals(still))
  assert.equal(same.headers.get('etag'), `"${expectedHash(still)}"`)
  assert.ok((await bytesOf(await ask(photo, 'f_auto', {}))).equals(photo))
})

test('no response is larger than any format that the client accepts by name', async () => {
  const sizeOf = async (bytes: Buffer, modifier: string) =>
    (await bytesOf(await ask(bytes, modifier, { accept: CHROME }))).length
  for (const [name, bytes] of Object.entries({ photo, clouds, graphic, gray, tiny, still })) {
    for (const size of ['w_200', 'w_2000']) {
      const auto = await sizeOf(bytes, `${size},f_auto`)
      const named = await Promise.all(['avif', 'webp'].map((format) => sizeOf(bytes, `${size},f_${format}`)))
      // What keeps every pixel may have a quarter more than what does not.
      assert.ok(auto <= Math.min(...named) * 1.25, `${name} ${size}: ${auto} of ${named.join()}`)
      if (name === 'photo') assert.ok(auto <= Math.min(...named), `${name} ${size}`)
      if (size === 'w_2000') assert.ok(auto <= bytes.length, name)
    }
  }
})

test('no response for a drawing is larger than lossless WebP, PNG and the original, for any client', async () => {
  for (const [name, bytes] of Object.entries({ graphic, gray, tiny, clouds })) {
    for (const size of ['w_200', 'w_360']) {
      const png = await bytesOf(await ask(bytes, `${size},f_png`, {}))
      const webp = await sharp(png).webp({ lossless: true }).toBuffer()
      const original = size === 'w_360' || name === 'tiny' ? bytes.length : Infinity
      for (const [accept, most] of [
        [CHROME, Math.min(png.length, webp.length, original)],
        ['image/webp,*/*', Math.min(png.length, webp.length, original)],
        ['*/*', Math.min(png.length, original)],
      ] as const) {
        const answer = await bytesOf(await ask(bytes, `${size},f_auto`, { accept }))
        assert.ok(answer.length <= most, `${name} ${size} ${accept}: ${answer.length} of ${most}`)
      }
    }
  }
})

test('a photograph in a lossless format becomes JPEG for a client that names no newer format, if it is opaque', async () => {
  // The middle is opaque, and one corner is not.
  const corner = { create: { width: 5, height: 5, channels: 4 as const, background: '#0000' } }
  const overlay = [{ input: corner, left: 0, top: 0, blend: 'clear' as const }]
  const cut = await sharp(clouds).ensureAlpha().composite(overlay).png().toBuffer()
  const opaque = await sharp(clouds).ensureAlpha().png().toBuffer()
  const tiff = await sharp(opaque).tiff({ compression: 'lzw' }).toBuffer()
  for (const [name, bytes, mime] of [
    ['clouds', clouds, 'image/jpeg'],
    ['opaque', opaque, 'image/jpeg'],
    ['tiff', tiff, 'image/jpeg'],
    ['cut', cut, 'image/png'],
    ['graphic', graphic, 'image/png'],
  ] as const) {
    await client.upload(bytes)
    for (const modifier of ['f_auto', 'w_200,f_auto,q_auto']) {
      const answer = await ask(bytes, modifier, { accept: '*/*' })
      assert.equal(answer.headers.get('content-type'), mime, `${name} ${modifier}`)
      const length = (await bytesOf(answer)).length
      if (mime === 'image/jpeg') assert.ok(length < bytes.length / 4, `${name} ${modifier}: ${length}`)
    }
  }
  assert.equal(
    (await ask(clouds, 'f_auto', { accept: 'image/png' })).headers.get('content-type'),
    'image/png',
  )
})

test('a drawing of few colours keeps every pixel', async () => {
  const exact = await sharp(await bytesOf(await ask(graphic, 'w_200,f_png', {})))
    .ensureAlpha()
    .raw()
    .toBuffer()
  for (const accept of [CHROME, 'image/webp,*/*', '*/*']) {
    const auto = await bytesOf(await ask(graphic, 'w_200,f_auto', { accept }))
    assert.ok((await sharp(auto).ensureAlpha().raw().toBuffer()).equals(exact), accept)
  }
})

test('the original is sent without metadata if it is the smallest', async () => {
  const secret = await sharp(tiny)
    .withExif({ IFD0: { Copyright: 'secreto' } })
    .png()
    .toBuffer()
  await client.upload(secret)
  const answer = await bytesOf(await ask(secret, 'w_320,f_auto', { accept: '*/*' }))
  assert.ok(answer.length <= secret.length)
  assert.equal((await sharp(answer).metadata()).exif, undefined)
})

test('grayscale is kept', async () => {
  const { channels, space } = await sharp(await bytesOf(await ask(gray, 'w_200,f_png', {}))).metadata()
  assert.deepEqual([channels, space], [1, 'b-w'])
  const coloured = await bytesOf(await ask(gray, 'w_200,f_png,c_pad,h_200,bg_f00', {}))
  assert.equal((await sharp(coloured).metadata()).channels, 3)
})

test('a shared cache that ignores Vary serves no wrong format', async () => {
  const clients = [
    { accept: CHROME },
    { accept: 'image/webp,*/*' },
    { accept: '*/*' },
    { accept: 'image/avif,*/*' },
    { accept: 'image/webp' },
  ]
  const links = [photo, graphic].flatMap((bytes) =>
    ['w_200,f_auto', 'w_100,f_auto', 'f_auto', 'w_200', 'w_200,f_webp'].map((modifier) => ({
      bytes,
      modifier,
    })),
  )
  const fresh = async ({ bytes, modifier }: (typeof links)[number], headers: Record<string, string>) => {
    const response = await ask(bytes, modifier, headers)
    return { etag: response.headers.get('etag'), cache: response.headers.get('cache-control') ?? '' }
  }
  const kept = new Map<string, string | null>()
  let wrong = 0
  let hits = 0
  for (let i = 0; i < 100; i++) {
    const link = links[i % links.length]
    const headers = clients[(i * 7 + Math.floor(i / links.length)) % clients.length]
    assert.ok(link !== undefined && headers !== undefined)
    const right = await fresh(link, headers)
    const key = `${expectedHash(link.bytes)} ${link.modifier}`
    const served = kept.get(key) ?? right.etag
    if (kept.has(key)) hits++
    else if (right.cache.startsWith('public')) kept.set(key, right.etag)
    if (served !== right.etag) wrong++
  }
  assert.equal(wrong, 0)
  // Links that mean one thing are kept all the same.
  assert.equal(hits, 100 * 0.4 - 4)
})

test('if all caches respect Vary, negotiated responses are cacheable', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'images.json')
  await writeFile(path, '{"auto_format_cache": "shared"}')
  await using shared = await startService({ flags: { 'image-settings': path } })
  const other = new ImageClient(shared.url, shared.imageKey)
  await other.upload(photo)
  for (const [url, scope] of [
    [other, 'public'],
    [client, 'private'],
  ] as const) {
    // The second answer comes from memory.
    for (let times = 0; times < 2; times++) {
      const answer = await url.link(`${expectedHash(photo)}&m=w_60,f_auto`, { headers: { accept: CHROME } })
      assert.equal(answer.headers.get('cache-control'), `${scope}, max-age=31536000, immutable`)
      assert.match(answer.headers.get('vary') ?? '', /accept/)
      await answer.body?.cancel()
    }
  }
})
