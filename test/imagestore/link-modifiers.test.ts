import assert from 'node:assert/strict'
import { test } from 'node:test'
import sharp from 'sharp'
import { animation, answerOf, bytesOf, expectedHash, gradient, noise, plain } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const photo = await gradient(600, 400).jpeg({ quality: 95 }).toBuffer()
const noisy = await noise(300, 200).png().toBuffer()
const colours = ['#ff0000', '#00ff00', '#0000ff']
const gif = await (await animation(120, 80, colours)).gif().toBuffer()
const webp = await (await animation(120, 80, colours)).webp({ lossless: true }).toBuffer()
const large = await noise(800, 600).png({ compressionLevel: 0 }).toBuffer()
const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="9" height="9"/></svg>',
)

/** Size and kind that a modifier makes of the photo of 600 × 400. */
const made: readonly (readonly [modifier: string, width: number, height: number, format?: string])[] = [
  ['w_300', 300, 200],
  ['h_100', 150, 100],
  ['w_100,h_300,c_fit', 100, 67],
  ['w_100,h_100,c_fill', 100, 100],
  ['w_1', 1, 1],
  ['w_8192,h_8192', 600, 400],
  ['w_1200,up', 1_200, 800],
  ['w_1200,h_1200,c_fill', 400, 400],
  ['s', 90, 90],
  ['b', 160, 160],
  ['thumb', 160, 107],
  ['p_thumb', 160, 107],
  ['m', 320, 213],
  ['l', 600, 400],
  ['h', 600, 400],
  ['thumb,w_80', 80, 53],
  ['f_webp', 600, 400, 'webp'],
  ['f_avif,w_60', 60, 40, 'heif'],
  ['f_jpg,q_30', 600, 400],
  ['f_png', 600, 400, 'png'],
  ['f_gif,w_60', 60, 40, 'gif'],
  ['q_100', 600, 400],
  ['w_300.webp', 300, 200, 'webp'],
]

const faulty: readonly (readonly [modifier: string, msg: string])[] = [
  ['nada', 'El modificador nada no existe'],
  ['w_300,,h_3', 'El modificador  no existe'],
  ['__proto___1', 'El modificador __proto___1 no existe'],
  ['w_0', 'El modificador w_0 no es válido: un entero de 1 a 8192'],
  ['q_0', 'El modificador q_0 no es válido: un entero de 1 a 100, o auto'],
  ['up_1', 'El modificador up_1 no es válido: nada'],
  ['w_300,w_300', 'El modificador w_300 está repetido'],
  [
    'rect_600_0_10_10',
    'El modificador rect_600_0_10_10 no es válido: una parte que esté dentro de la imagen',
  ],
  ['rel_0_1_1_1', 'El modificador rel_0_1_1_1 no es válido: una parte que esté dentro de la imagen'],
  [
    'rect_0_0_9_9,rel_1_0_1_1',
    'El modificador rel_1_0_1_1 no es válido: una parte que esté dentro de la imagen',
  ],
]

const { client: fotos } = await startImages()
for (const bytes of [photo, noisy, gif, webp, large, svg]) {
  assert.equal((await fotos.upload(bytes)).status, 200)
}

for (const [modifier, width, height, format = 'jpeg'] of made) {
  test(`${modifier} of 600 × 400 is ${width} × ${height}`, async () => {
    const response = await fotos.link(`${expectedHash(photo)}&m=${modifier}`)
    assert.equal(response.status, 200)
    const type = format === 'heif' ? 'image/avif' : `image/${format}`
    assert.equal(response.headers.get('content-type'), type)
    const bytes = await bytesOf(response)
    assert.equal(response.headers.get('content-length'), String(bytes.length))
    const info = await sharp(bytes).metadata()
    assert.deepEqual([info.format, info.width, info.height], [format, width, height])
  })
}

for (const [modifier, msg] of faulty) {
  test(`${modifier} is refused, and named`, async () => {
    for (const mark of ['&', '?']) {
      const response = await fotos.link(`${expectedHash(photo)}${mark}m=${modifier}`)
      assert.equal(response.headers.get('cache-control')?.includes('immutable') ?? false, false)
      assert.deepEqual(plain(await answerOf(response)), { status: 400, body: { status: 400, msg } })
    }
  })
}

test('dl_ names the file that browsers save, and makes no second derivative', async () => {
  const disposition = async (modifier: string, bytes = photo) => {
    const response = await fotos.link(`${expectedHash(bytes)}&m=${modifier}`)
    assert.equal(response.status, 200)
    await response.body?.cancel()
    return [response.headers.get('content-disposition'), response.headers.get('etag')]
  }
  const [none, etag] = await disposition('w_60,f_webp')
  assert.equal(none, null)
  // The second time from memory.
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await disposition('w_60,f_webp,dl_foto-1'), ['attachment; filename="foto-1.webp"', etag])
  }
  assert.deepEqual(await disposition('dl_a'), ['attachment; filename="a.jpg"', `"${expectedHash(photo)}"`])
  assert.deepEqual(await disposition('dl_a', svg), ['attachment; filename="a.svg"', `"${expectedHash(svg)}"`])
})

test('a very long modifier is refused', async () => {
  const response = await fotos.link(`${expectedHash(photo)}&m=${'w_1,'.repeat(1_000)}`)
  const { status, body } = await answerOf(response)
  assert.equal(status, 400)
  assert.ok(String(body['msg']).length < 100)
})

test('quality changes the size of the file', async () => {
  const sizeAt = async (quality: number) =>
    (await bytesOf(await fotos.link(`${expectedHash(noisy)}&m=f_jpg,q_${quality}`))).length
  assert.ok((await sizeAt(10)) < (await sizeAt(50)))
  assert.ok((await sizeAt(50)) < (await sizeAt(95)))
})

for (const [name, bytes, format] of [
  ['GIF', gif, 'gif'],
  ['WebP', webp, 'webp'],
] as const) {
  for (const modifier of ['w_60', 'w_40,h_40,c_fill', format === 'gif' ? 'w_60,f_webp' : 'w_60,f_gif']) {
    test(`an animated ${name} stays animated under ${modifier}`, async () => {
      const response = await fotos.link(`${expectedHash(bytes)}&m=${modifier}`)
      const derived = await bytesOf(response)
      const info = await sharp(derived, { animated: true }).metadata()
      assert.equal(info.pages, 3)
      assert.deepEqual([info.width, info.pageHeight], modifier.includes('c_fill') ? [40, 40] : [60, 40])
      for (const [page, expected] of [
        [255, 0, 0],
        [0, 255, 0],
        [0, 0, 255],
      ].entries()) {
        const { dominant } = await sharp(derived, { page }).stats()
        for (const [at, value] of [dominant.r, dominant.g, dominant.b].entries()) {
          assert.ok(Math.abs(value - (expected[at] ?? 0)) < 24, `colour of frame ${page}`)
        }
      }
    })
  }

  test(`an animated ${name} becomes its first frame as JPEG`, async () => {
    const info = await sharp(await bytesOf(await fotos.link(`${expectedHash(bytes)}.jpg`))).metadata()
    assert.deepEqual([info.format, info.width, info.height], ['jpeg', 120, 80])
  })
}

for (const [name, path] of [
  ['a derivative', `${expectedHash(photo)}&m=w_120`],
  ['a derivative of an SVG', `${expectedHash(svg)}.png`],
  ['a derivative of a large image', `${expectedHash(large)}&m=w_120`],
] as const) {
  test(`${name} has the headers, ranges and conditions of an original`, async () => {
    const whole = await fotos.link(path)
    const bytes = await bytesOf(whole)
    const etag = whole.headers.get('etag') ?? ''
    assert.match(etag, /^"[a-z2-7]{32}-[0-9a-f]+"$/)
    for (const [header, value] of [
      ['cache-control', 'public, max-age=31536000, immutable'],
      ['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox"],
      ['x-content-type-options', 'nosniff'],
      ['access-control-allow-origin', '*'],
      ['accept-ranges', 'bytes'],
      ['cache-tag', path.slice(0, 32)],
    ] as const) {
      assert.equal(whole.headers.get(header), value)
    }
    const head = await fotos.link(path, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)])
    const part = await fotos.link(path, { headers: { range: 'bytes=3-9', 'if-range': etag } })
    assert.equal(part.status, 206)
    assert.deepEqual(await bytesOf(part), bytes.subarray(3, 10))
    const beyond = await fotos.link(path, { headers: { range: `bytes=${bytes.length}-` } })
    assert.equal(beyond.status, 416)
    const known = await fotos.link(path, { headers: { 'if-none-match': etag } })
    assert.deepEqual([known.status, known.headers.get('cache-tag')], [304, path.slice(0, 32)])
  })
}
