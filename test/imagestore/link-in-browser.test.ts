/** A real browser runs nothing that comes from a public link, whatever was uploaded and however a page embeds it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { launchChromium } from '../support/browser.ts'
import { expectedHash, gradient } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

const TIMEOUT_MS = 30_000
/** What any of the scripts does when it runs: asks for something that is written down. */
const RUN = `fetch('/healthz?ran');new Image().src='/healthz?ran'`
const HTML = `<html><body onload="${RUN}"><script>${RUN}</script><img src=x onerror="${RUN}"></body></html>`

const scripted =
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  width="80" height="60" onload="${RUN}"><script>${RUN}</script><script href="data:text/javascript,${RUN}"/>
  <script xmlns="http://www.w3.org/1999/xhtml">${RUN}</script>
  <foreignObject width="80" height="60"><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" onerror="${RUN}"/>
  <iframe src="javascript:${RUN}"/></body></foreignObject>
  <a xlink:href="javascript:${RUN}"><rect width="80" height="60" fill="green"/></a>
  <image href="/healthz?ran" width="9" height="9"/><animate onbegin="${RUN}" attributeName="x" dur="1s"/></svg>`)

/** A GIF whose comment is a page, and whose first bytes are a script's comment. */
const mixed = async () => {
  const gif = await gradient(80, 60).gif().toBuffer()
  const text = HTML.match(/.{1,255}/gs) ?? []
  const comment = text.flatMap((part) => [Buffer.from([part.length]), Buffer.from(part)])
  return Buffer.concat([
    gif.subarray(0, -1),
    Buffer.from([0x21, 0xfe]),
    ...comment,
    Buffer.from([0]),
    gif.subarray(-1),
  ])
}

const { service, client } = await startImages()
const browser = await launchChromium()
after(() => browser.close())

/** What scripts of this address, and of what it embeds, asked for and were answered. */
async function visit(address: string): Promise<string[]> {
  const page = await browser.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  const answered: string[] = []
  // What a policy forbids is counted as a request by the browser, but nobody answers it.
  page.on('response', (response) => answered.push(response.url()))
  await page.goto(address, { waitUntil: 'load' })
  await page.mouse.click(30, 30)
  // The browser's own clock: a page without scripts cannot be asked whether it is done.
  await page.waitForTimeout(300)
  await page.close()
  return answered.filter((url) => url.includes('?ran'))
}

/** Serves these pages; resolves to its origin. */
async function serve(write: (path: string | undefined) => readonly [type: string, body: string | Buffer]) {
  const server = createServer((request, response) => {
    const [type, body] = write(request.url)
    response.setHeader('content-type', type).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return {
    origin: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

test('the browser runs it if served with its own type', async () => {
  await using server = await serve((path) =>
    path === '/page' ? ['text/html', HTML] : ['image/svg+xml', scripted],
  )
  for (const path of ['/image.svg', '/page']) {
    const page = await browser.newPage()
    const ran = page.waitForResponse(/\?ran/, { timeout: TIMEOUT_MS })
    await page.goto(server.origin + path)
    await ran
    await page.close()
  }
})

for (const [name, make] of [
  ['an SVG with script', async () => scripted],
  ['a GIF that is a page as well', mixed],
] as const) {
  test(`${name} runs nothing, opened or embedded`, async () => {
    const bytes = await make()
    assert.equal((await client.upload(bytes, { name: 'page.html', mime: 'text/html' })).status, 200)
    const link = `${service.url}/i/${expectedHash(bytes)}`
    assert.deepEqual(await visit(link), [])
    assert.deepEqual(await visit(`${link}?m=w_40`), [])
    const page = ['iframe src', 'object data', 'embed src', 'img src'].map((tag) => {
      return `<${tag}="${link}" type="text/html" width=90 height=90></${tag.split(' ')[0]}>`
    })
    const html = `${page.join('')}<script src="${link}"></script><link rel=stylesheet href="${link}">`
    await using server = await serve(() => ['text/html', html])
    assert.deepEqual(await visit(server.origin), [])
  })
}

test('a page under the name of an image is not saved', async () => {
  for (const bytes of [HTML, `<!DOCTYPE html><svg></svg>${HTML}`, `<!--<svg>-->${HTML}`]) {
    const answer = await client.upload(Buffer.from(bytes), { name: 'foto.svg', mime: 'image/svg+xml' })
    assert.equal(answer.status, 401)
  }
})
