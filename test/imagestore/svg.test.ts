/** SVG as XML may be written, in other encodings and with prefixes; and what it refers to outside itself, which is never read. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import sharp from 'sharp'
import { bytesOf, DAMAGED, plain, expectedHash, solid } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { temporaryFolder } from '../support/folder.ts'
import { listen } from '../support/listen.ts'

const { client } = await startImages()

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

const red = await solid(60, 40, '#f00').png().toBuffer()
const redSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" id="a"><rect width="60" height="40" fill="#f00"/></svg>'

const referring = (content: string, prolog = '') =>
  `${prolog}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
  `xmlns:xi="http://www.w3.org/2001/XInclude" width="60" height="40"><rect width="60" height="40" fill="#00f"/>${content}</svg>`

test('an SVG is rendered without external references', async () => {
  await using folder = await temporaryFolder()
  let asked = 0
  await using server = createServer((_request, response) => {
    asked++
    response.end(red)
  })
  const port = await listen(server)
  await writeFile(join(folder.path, 'red.png'), red)
  await writeFile(join(folder.path, 'red.svg'), redSvg)
  const image = (place: string) => `<image xlink:href="${place}" width="60" height="40"/>`
  // What lies inside is drawn: so would be the rest.
  const inside = await upload(referring(image(`data:image/png;base64,${red.toString('base64')}`)))
  assert.deepEqual(inside, { status: 200, colour: 'ff0000' })

  for (const base of [`file://${folder.path}`, folder.path, '.', `http://127.0.0.1:${port}`]) {
    for (const svg of [
      referring(image(`${base}/red.png`)),
      referring(`<use xlink:href="${base}/red.svg#a"/>`),
      referring(`<style>@import url("${base}/red.css"); rect { fill: url("${base}/red.svg#a") }</style>`),
      referring(`<xi:include href="${base}/red.svg"/>`),
      referring('', `<?xml-stylesheet href="${base}/red.css"?>`),
      referring('&outside;', `<!DOCTYPE svg [<!ENTITY outside SYSTEM "${base}/red.svg">]>`),
      referring('', `<!DOCTYPE svg SYSTEM "${base}/red.dtd">`),
    ]) {
      const { status, colour } = await upload(svg)
      if (status === 200) assert.notEqual(colour, 'ff0000', svg)
      else assert.equal(status, 401, svg)
    }
  }
  assert.equal(asked, 0)

  async function upload(svg: string) {
    const bytes = Buffer.from(svg)
    const { status } = await client.upload(bytes)
    if (status !== 200) return { status, colour: undefined }
    const drawn = await bytesOf(await client.link(`${expectedHash(bytes)}&m=f_png`))
    const pixel = await sharp(drawn)
      .removeAlpha()
      .extract({ left: 30, top: 20, width: 1, height: 1 })
      .raw()
      .toBuffer()
    return { status, colour: pixel.toString('hex') }
  }
})
