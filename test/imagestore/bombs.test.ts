/** Small files, and links to them, that would take too much of the service: a refusal, never a fault of its own. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { setTimeout as pause } from 'node:timers/promises'
import {
  bytesOf,
  DAMAGED,
  expectedHash,
  gradient,
  ImageClient,
  plain,
  pngChunk,
  problem,
  stamped,
  answerOf,
} from '../support/images.ts'
import { startImages } from '../support/image-service.ts'
import { metric } from '../support/http.ts'
import { startService } from '../support/service.ts'

const png = await gradient(60, 40).png().toBuffer()

/** A gray PNG whose pixels are `rows` of black, whatever height its header claims. */
function blackPng(width: number, height: number, rows: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8
  const pixels = deflateSync(Buffer.alloc((width + 1) * rows), { level: 1 })
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixels),
    pngChunk('IEND', new Uint8Array(0)),
  ])
}

/** An animation whose frames each hold one pixel on a large canvas. */
function manyFrames(side: number, frames: number): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt16LE(side, 0)
  size.writeUInt16LE(side, 2)
  const frame = Buffer.from('21f90400010000002c00000000010001000002024401003b', 'hex').subarray(0, 23)
  const head = Buffer.concat([Buffer.from('GIF89a'), size, Buffer.from('800000000000ffffff', 'hex')])
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(';')])
}

/** 35 bytes: one pixel on a screen of 4.3 gigapixels. The decoder ignores the screen, the hash does not. */
const hugeScreen = Buffer.from(
  '474946383961ffffffff8000000000000000ff2c00000000010001000002024401003b',
  'hex',
)

const svg = (content: string, size = 'width="100" height="100"') =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${size}>${content}</svg>`,
  )

/** Takes a time that grows with both numbers. */
const turbulence = (side: number, octaves: number) => {
  const size = `width="${side}" height="${side}"`
  const filter = `<filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="${octaves}"/></filter>`
  return svg(`${filter}<rect ${size} filter="url(#f)"/>`, size)
}

/** Each group uses the one before ten times: 10 to the power of `levels` rectangles. */
function nestedUses(levels: number): Buffer {
  let groups = '<g id="g0"><rect width="9" height="9"/></g>'
  for (let level = 1; level <= levels; level++) {
    groups += `<g id="g${level}">${`<use xlink:href="#g${level - 1}"/>`.repeat(10)}</g>`
  }
  return svg(`<defs>${groups}</defs><use xlink:href="#g${levels}"/>`)
}

function entities(levels: number): Buffer {
  let declared = '<!ENTITY e0 "aaaaaaaaaa">'
  for (let level = 1; level <= levels; level++) {
    declared += `<!ENTITY e${level} "${`&e${level - 1};`.repeat(10)}">`
  }
  return Buffer.from(
    `<!DOCTYPE svg [${declared}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&e${levels};</text></svg>`,
  )
}

/** `refused`: must be. `handled`: a decoder may know how to draw it cheaply; what counts is that the service lives. */
const bombs: readonly (readonly [name: string, bytes: Buffer, outcome: 'refused' | 'handled'])[] = [
  ['a PNG that claims 60,000 × 60,000 pixels', blackPng(60_000, 60_000, 10), 'refused'],
  ['a PNG that claims the largest size there is', blackPng(0x7fffffff, 0x7fffffff, 0), 'refused'],
  ['a whole PNG past the limit of pixels', blackPng(9_000, 8_000, 8_000), 'refused'],
  ['a PNG within the limit whose pixels are not there', blackPng(7_000, 7_000, 10), 'refused'],
  ['a GIF of 10,000 frames on a canvas of a megapixel', manyFrames(1_000, 10_000), 'refused'],
  ['a GIF whose frames together pass the limit by little', manyFrames(1_000, 65), 'refused'],
  ['an SVG of groups of groups', nestedUses(9), 'handled'],
  ['an SVG of nested entities', entities(9), 'handled'],
  ['an SVG of deep nesting', svg(`${'<g>'.repeat(50_000)}${'</g>'.repeat(50_000)}`), 'handled'],
]

const OVERLOAD = problem(503, 'El servicio está saturado, inténtelo de nuevo')
const LOOK_MS = 10

const noProc = process.platform !== 'linux' && 'no /proc'

/** The limits on address space of all decoders that this process has started. */
async function decoderLimits(): Promise<string[]> {
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'latin1')
  const limits = children
    .trim()
    .split(' ')
    .map((pid) => readFile(`/proc/${pid}/limits`, 'latin1').catch(() => ''))
  return (await Promise.all(limits)).flatMap((text) => /^Max address space +(\S+)/m.exec(text)?.[1] ?? [])
}

const { service, client: fotos } = await startImages({ limits: { imageTimeoutMs: 2_000 } })

/** Asks for `/healthz` again and again until `work` is done. */
async function meanwhileHealthy<T>(work: Promise<T>): Promise<T> {
  let going = true
  const done = work.finally(() => (going = false))
  do {
    const { status } = await fetch(`${service.url}/healthz`, { signal: AbortSignal.timeout(10_000) })
    assert.equal(status, 200)
    await pause(LOOK_MS)
  } while (going)
  return done
}

for (const [name, bytes, outcome] of bombs) {
  test(`${name} is ${outcome}, and the service answers meanwhile`, async () => {
    const answer = await meanwhileHealthy(fotos.upload(bytes))
    if (outcome === 'refused' || answer.status !== 200) assert.deepEqual(plain(answer), DAMAGED)
    // Decoders that were ended are replaced.
    assert.equal((await fotos.upload(stamped(png, name))).status, 200)
  })
}

const restarts = () => metric(service, 'images_restarts_total')

test('a GIF with a huge screen is refused before its screen is allocated', async () => {
  const before = await restarts()
  assert.deepEqual(plain(await fotos.upload(Buffer.concat([hugeScreen, Buffer.from('otra')]))), DAMAGED)
  assert.equal(await restarts(), before)
})

test('bytes that stopped a decoder are refused without another attempt', async () => {
  const slow = turbulence(4_000, 99)
  const before = await restarts()
  for (const _ of [1, 2, 3]) assert.deepEqual(plain(await fotos.upload(slow)), DAMAGED)
  assert.equal(await restarts(), before + 1)
})

test('the system limits the memory of decoders, whatever a header says', { skip: noProc }, async () => {
  await using small = await startService({ flags: { 'image-memory': '128' } })
  const client = new ImageClient(small.url, small.imageKey)
  // 196 MB, four times as much as colours, decoded by the renderer of the SVG.
  const hidden = blackPng(14_000, 14_000, 14_000).toString('base64')
  const bytes = svg(`<image width="9" height="9" href="data:image/png;base64,${hidden}"/>`)
  assert.deepEqual(plain(await client.upload(bytes)), DAMAGED)
  assert.equal((await client.upload(png)).status, 200)
  // 128 MiB for an image, and 1,536 for the addresses that the program itself reserves.
  const limit = String((128 + 1_536) * 1024 * 1024)
  assert.ok((await decoderLimits()).includes(limit))
})

test('a GIF within the limit is stored', async () => {
  assert.equal((await fotos.upload(manyFrames(1_000, 60))).status, 200)
})

test('all concurrently', async () => {
  const work = Promise.all(bombs.map(([, bytes]) => fotos.upload(Buffer.concat([bytes]))))
  for (const { status } of await meanwhileHealthy(work)) assert.ok([200, 401, 503].includes(status))
  assert.equal((await fotos.upload(png)).status, 200)
})

test('of more concurrent images than can be decoded, each is stored completely or gets a 503', async () => {
  await using service = await startService({ flags: { 'image-workers': '1' }, limits: { imageQueue: 16 } })
  const fotos = new ImageClient(service.url, service.imageKey)
  const picture = await gradient(1_500, 1_000).png().toBuffer()
  const pictures = Array.from({ length: 40 }, (_, index) => stamped(picture, `a la vez ${index}`))
  const answers = await Promise.all(pictures.map((bytes) => fotos.upload(bytes)))
  const refused: Buffer[] = []
  for (const [index, bytes] of pictures.entries()) {
    const answer = answers[index]
    assert.ok(answer !== undefined)
    if (answer.status === 200) {
      const size = { size: bytes.length, width: 1_500, height: 1_000 }
      assert.partialDeepStrictEqual(answer.body, { hash: expectedHash(bytes), ...size })
      assert.ok((await bytesOf(await fotos.link(expectedHash(bytes)))).equals(bytes))
    } else {
      assert.deepEqual(plain(answer), OVERLOAD)
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
      assert.equal((await fotos.get(expectedHash(bytes))).status, 404)
      refused.push(bytes)
    }
  }
  assert.ok(refused.length > 0, 'the queue is bounded')
  assert.ok(refused.length < pictures.length, 'those in the queue are served')
  assert.equal((await fotos.list({ limit: '1024' })).body['count'], pictures.length - refused.length)
  for (const bytes of refused.slice(0, 3)) assert.equal((await fotos.upload(bytes)).status, 200)
})

test('accepted images do not depend on the number of processes', async () => {
  await using service = await startService({ flags: { workers: '2', 'image-memory': '128' } })
  const fotos = new ImageClient(service.url, service.imageKey)
  const large = blackPng(3_000, 3_000, 3_000)
  assert.equal((await fotos.upload(large)).status, 200)
  const link = await fotos.link(`${expectedHash(large)}&m=w_30,f_jpg`)
  assert.equal(link.status, 200)
  await link.body?.cancel()
  assert.deepEqual(plain(await fotos.upload(blackPng(4_500, 4_500, 4_500))), DAMAGED)
})

test('an animation of thousands of frames is rejected before decoding, one frame of it is not', async () => {
  const bytes = manyFrames(100, 5_000)
  const hash = expectedHash(bytes)
  assert.equal((await fotos.upload(bytes)).status, 200)
  for (const link of [`${hash}.webp`, `${hash}&m=w_90`, `${hash}&m=w_90,f_webp`]) {
    const response = await fotos.link(link)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.deepEqual(
      plain(await answerOf(response)),
      problem(
        400,
        'La imagen es demasiado pesada para este modificador: pida un solo cuadro (frame_0) o menos tamaño',
      ),
    )
  }
  assert.equal((await fotos.link(`${hash}.webp&m=frame_7`)).status, 200)
  assert.equal((await fotos.link(`${hash}.jpg`)).status, 200)
  // Of moderate length: is made.
  const few = manyFrames(100, 50)
  await fotos.upload(few)
  assert.equal((await fotos.link(`${expectedHash(few)}.webp`)).status, 200)
})

test('a rendering that timed out is not retried for a while', async () => {
  const slow = turbulence(1_000, 20)
  const hash = expectedHash(slow)
  await using service = await startService({ limits: { imageTimeoutMs: 60_000 } })
  assert.equal((await new ImageClient(service.url, service.imageKey).upload(slow)).status, 200)
  await service.stop()
  await using hasty = await startService({ data: service.data, limits: { imageTimeoutMs: 250 } })
  const client = new ImageClient(hasty.url, hasty.imageKey)
  for (const _ of [1, 2]) {
    const response = await client.link(`${hash}.webp`)
    assert.equal(response.headers.get('retry-after'), '600')
    assert.deepEqual(plain(await answerOf(response)), OVERLOAD)
  }
  assert.equal(await metric(hasty, 'derivatives_made_total'), 1)
})
