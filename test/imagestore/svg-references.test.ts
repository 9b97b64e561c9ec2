/** Whatever an SVG refers to outside itself is neither read nor asked for when it is drawn. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { bytesOf, expectedHash, ImageClient } from '../support/images.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService } from '../support/service.ts'

const red = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#f00' } })
  .png()
  .toBuffer()
const redSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" id="a"><rect width="60" height="40" fill="#f00"/></svg>'

const drawing = (content: string, prolog = '') =>
  `${prolog}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
  `xmlns:xi="http://www.w3.org/2001/XInclude" width="60" height="40"><rect width="60" height="40" fill="#00f"/>${content}</svg>`

test('an SVG is rendered without external references', async () => {
  await using folder = await temporaryFolder()
  let asked = 0
  await using server = createServer((_request, response) => {
    asked++
    response.end(red)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  await writeFile(join(folder.path, 'red.png'), red)
  await writeFile(join(folder.path, 'red.svg'), redSvg)
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)

  const image = (place: string) => `<image xlink:href="${place}" width="60" height="40"/>`
  // What lies inside is drawn: so would be the rest.
  const inside = await upload(drawing(image(`data:image/png;base64,${red.toString('base64')}`)))
  assert.deepEqual(inside, { status: 200, colour: 'ff0000' })

  for (const base of [`file://${folder.path}`, folder.path, '.', `http://127.0.0.1:${address.port}`]) {
    for (const svg of [
      drawing(image(`${base}/red.png`)),
      drawing(`<use xlink:href="${base}/red.svg#a"/>`),
      drawing(`<style>@import url("${base}/red.css"); rect { fill: url("${base}/red.svg#a") }</style>`),
      drawing(`<xi:include href="${base}/red.svg"/>`),
      drawing('', `<?xml-stylesheet href="${base}/red.css"?>`),
      drawing('&outside;', `<!DOCTYPE svg [<!ENTITY outside SYSTEM "${base}/red.svg">]>`),
      drawing('', `<!DOCTYPE svg SYSTEM "${base}/red.dtd">`),
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
