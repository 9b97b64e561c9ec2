/** SVG as XML may be written: in UTF-16, and with its elements' namespace behind a prefix. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { bytesOf, DAMAGED, ImageClient, plain } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let client: ImageClient
before(async () => {
  service = await startService()
  client = new ImageClient(service.url, service.imageKey)
})
after(() => service[Symbol.asyncDispose]())

const drawing = (prefix = '') => {
  const [mark, name] = prefix === '' ? ['', 'xmlns'] : [`${prefix}:`, `xmlns:${prefix}`]
  return `<${mark}svg ${name}="http://www.w3.org/2000/svg" width="40" height="20"><${mark}rect width="20" height="20" fill="#f00"/></${mark}svg>`
}
const declared = (encoding: string, prolog = '') => `<?xml version="1.0" encoding="${encoding}"?>\n${prolog}`
const little = (text: string) => Buffer.from(text, 'utf16le')
const big = (text: string) => little(text).swap16()

const valid: Readonly<Record<string, string | Buffer>> = {
  'UTF-8 with a mark': `\ufeff${drawing()}`,
  'Latin-1': Buffer.from(`${declared('ISO-8859-1')}<!-- ñandú -->${drawing()}`, 'latin1'),
  Shift_JIS: Buffer.concat([
    Buffer.from(declared('Shift_JIS')),
    Buffer.from('<!-- \x8a\xcf -->', 'latin1'),
    Buffer.from(drawing()),
  ]),
  'UTF-16, little end first': little(`\ufeff${declared('UTF-16')}${drawing()}`),
  'UTF-16, big end first': big(`\ufeff${declared('utf-16')}${drawing()}`),
  'UTF-16 that is said to be something else': big(`\ufeff${declared('ISO-8859-1')}${drawing()}`),
  'UTF-16 without a declaration': little(`\ufeff<!-- ñandú 🔭 -->${drawing()}`),
  'UTF-16LE without a mark': little(`${declared('UTF-16LE')}${drawing()}`),
  'UTF-16BE without a mark': big(`${declared('UTF-16BE')}${drawing()}`),
  'a usual prefix': drawing('svg'),
  'a short prefix': `${declared('UTF-8')}${drawing('s')}`,
  'a prefix beyond ASCII': drawing('dibujo-ñ'),
  'a prefix, in UTF-16, behind a document type': big(
    `\ufeff${declared('UTF-16', '<!DOCTYPE s:svg [ <!-- > --> ]>\n')}${drawing('s')}`,
  ),
  'a prefix behind a long comment': `<!--${'x'.repeat(5_000)}-->${drawing('s')}`,
}

for (const [name, svg] of Object.entries(valid)) {
  test(`${name} is stored unchanged and rendered`, async () => {
    const bytes = Buffer.from(svg)
    const { status, body } = await client.upload(bytes)
    assert.deepEqual([status, body['width'], body['height'], body['size']], [200, 40, 20, bytes.byteLength])
    const hash = String(body['hash'])
    const original = await client.link(hash)
    assert.equal(original.headers.get('content-type'), 'image/svg+xml')
    assert.match(original.headers.get('content-security-policy') ?? '', /^default-src 'none'.*sandbox$/)
    assert.ok((await bytesOf(original)).equals(bytes))
    const drawn = await sharp(await bytesOf(await client.link(`${hash}&m=f_png`)))
      .ensureAlpha()
      .raw()
      .toBuffer()
    const pixel = (x: number) => drawn.readUInt32BE((10 * 40 + x) * 4)
    assert.deepEqual([pixel(5), pixel(35)], [0xff0000ff, 0])
  })
}

const refused: Readonly<Record<string, string | Buffer>> = {
  'UTF-8 that is said to be UTF-16': `${declared('UTF-16')}${drawing()}`,
  'an encoding that nobody knows': `${declared('EBCDIC-CL')}${drawing()}`,
  'UTF-16 that ends within a character': little(`\ufeff${drawing()} `).subarray(0, -1),
  'half a pair of UTF-16': little(`\ufeff<!-- \ud83d -->${drawing()}`),
  'UTF-16 without mark and declaration': little(drawing()),
  'a prefix of another language': '<h:svg xmlns:h="http://www.w3.org/1999/xhtml" width="9" height="9"/>',
  'a prefix that stands for nothing': '<s:svg width="9" height="9"/>',
  'HTML in UTF-16': big('\ufeff<html><svg/></html>'),
  'an entity from elsewhere, in UTF-16': little(
    `\ufeff<!DOCTYPE svg [<!ENTITY e SYSTEM "file:///etc/passwd">]>${drawing().replace('<rect', '&e;<rect')}`,
  ),
}

for (const [name, svg] of Object.entries(refused)) {
  test(`${name} is refused`, async () => {
    assert.deepEqual(plain(await client.upload(Buffer.from(svg))), DAMAGED)
  })
}
