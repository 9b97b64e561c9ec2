import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { corpus, hashedPicture } from '../../../test/support/corpus.ts'
import { createImageEngine } from './index.ts'
import type { Inspection } from './protocol.ts'

const engine = createImageEngine({ workers: 2 })
const folder = await mkdtemp(join(tmpdir(), 'catalejo-inspect-'))
after(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

let files = 0
async function inspectBytes(bytes: Uint8Array | string): Promise<Inspection> {
  const path = join(folder, String(files++))
  await writeFile(path, bytes)
  return engine.inspect(path)
}

const fixtures = fileURLToPath(new URL('../../../test/fixtures/dhash/', import.meta.url))
const corpusFolder = fileURLToPath(corpus)

interface Expected {
  readonly width: number
  readonly height: number
  readonly frames: number
  readonly dhash: string
}
const expected = new Map<string, Expected>(
  Object.entries(JSON.parse(readFileSync(join(fixtures, 'expected.json'), 'utf8'))),
)

for (const [name, want] of expected) {
  test(`${name} has the size and the hash that Pillow computes`, async () => {
    const got = await engine.inspect(join(fixtures, name))
    assert.equal(got.kind, 'image')
    const { width, height, frames, dhash } = got
    assert.deepEqual({ width, height, frames, dhash }, want)
  })
}

test('a colour profile does not change the hash', async () => {
  const plain = sharp(join(fixtures, 'rgb.png'))
  const tagged = await plain.clone().withIccProfile('p3').png().toBuffer({ resolveWithObject: true })
  const { data, info } = await sharp(tagged.data, { ignoreIcc: true })
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const untagged = await sharp(data, { raw: { width, height, channels } }).png().toBuffer()
  const [a, b] = [await inspectBytes(tagged.data), await inspectBytes(untagged)]
  assert.equal(a.kind, 'image')
  assert.deepEqual(a, b)
})

test('every valid PNG of the corpus is accepted and every damaged one rejected', async () => {
  for (const [group, kind] of [
    ['valid', 'image'],
    ['damaged', 'damaged'],
  ] as const) {
    const names = readdirSync(join(corpusFolder, 'png', group))
    for (const name of names)
      assert.equal((await engine.inspect(join(corpusFolder, 'png', group, name))).kind, kind, name)
  }
})

test('pictures that differ only in orientation have the same size and nearly the same hash', async () => {
  const names = readdirSync(join(corpusFolder, 'orientation')).filter((name) => name.endsWith('.jpg'))
  const sets = Map.groupBy(names, (name) => name.replace(/_\d.*$/, ''))
  assert.ok(sets.size > 1)
  for (const set of sets.values()) {
    const seen = await Promise.all(set.map((name) => engine.inspect(join(corpusFolder, 'orientation', name))))
    const [first] = seen
    assert.ok(first?.kind === 'image')
    for (const other of seen) {
      assert.ok(other.kind === 'image')
      assert.deepEqual([other.width, other.height], [first.width, first.height])
      const differ = (BigInt(`0x${other.dhash}`) ^ BigInt(`0x${first.dhash}`)).toString(2).replaceAll('0', '')
      assert.ok(differ.length <= 4, `${differ.length} bits`)
    }
  }
})

test('the hash equals the one that ImageHash publishes', async () => {
  const got = await engine.inspect(fileURLToPath(hashedPicture.file))
  assert.equal(got.kind === 'image' && got.dhash, hashedPicture.dhash)
})

const avif = (): Promise<Buffer> => sharp(join(fixtures, 'rgb.png')).avif({ effort: 0 }).toBuffer()
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><rect width="60" height="80"/></svg>'

test('AVIF and SVG', async () => {
  const a = await inspectBytes(await avif())
  assert.deepEqual(a.kind === 'image' && [a.format, a.mime, a.width, a.height], [
    'avif',
    'image/avif',
    61,
    47,
  ])
  const s = await inspectBytes(`\ufeff<?xml version="1.0"?>\n<!-- a > b -->\n<!DOCTYPE svg>\n${svg}\n`)
  assert.deepEqual(s.kind === 'image' && [s.format, s.mime, s.width, s.height], [
    'svg',
    'image/svg+xml',
    120,
    80,
  ])
})

test('all pages of a TIFF are decoded and count towards the limit', async () => {
  const name = join(fixtures, 'lzw.tif')
  const bytes = readFileSync(name)
  const small = createImageEngine({ workers: 1, maxPixels: 61 * 47 - 1 })
  assert.equal((await small.inspect(name)).kind, 'damaged')
  await small.close()
  assert.equal((await inspectBytes(bytes)).kind, 'image')
})

const animation = join(fixtures, 'animated.gif')
test('the pixel limit applies to all frames of an animation together', async () => {
  const limited = createImageEngine({ workers: 1, maxPixels: 61 * 47 * 3 - 1 })
  assert.equal((await limited.inspect(animation)).kind, 'damaged')
  await limited.close()
  assert.equal((await engine.inspect(animation)).kind, 'image')
})

test('other formats are rejected, whatever their name', async () => {
  const refused: Record<string, Uint8Array | string> = {
    empty: '',
    text: 'hello',
    html: '<!doctype html><svg></svg>',
    pdf: '%PDF-1.7\n%\xe2\xe3',
    bmp: Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]),
    ico: Buffer.from([0, 0, 1, 0, 1, 0, 16, 16]),
    jxl: Buffer.from([0xff, 0x0a, 0, 0]),
    svgz: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
    heic: Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'),
    'avif sequence': Buffer.from('\0\0\0\x18ftypavis\0\0\0\0avifmif1', 'latin1'),
    'svg without an end': '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect',
    'comment without an end': `<!-- ${'x'.repeat(100_000)}`,
  }
  for (const [name, bytes] of Object.entries(refused)) {
    assert.equal((await inspectBytes(bytes)).kind, 'damaged', name)
  }
})

test('a file truncated anywhere is rejected, garbage after its end is accepted', async () => {
  const names = [
    'rgb.png',
    'progressive.jpg',
    'gray.jpg',
    'animated.gif',
    'lossy.webp',
    'animated.webp',
    'lzw.tif',
    'group4.tif',
  ]
  const all = new Map<string, Uint8Array>(names.map((name) => [name, readFileSync(join(fixtures, name))]))
  all.set('avif', await avif())
  for (const [name, bytes] of all) {
    assert.equal((await inspectBytes(Buffer.concat([bytes, Buffer.from('\n\0garbage')]))).kind, 'image', name)
    for (const cut of [1, 2, 3, 4, 7, 12, 33, 100, bytes.length >> 2, bytes.length >> 1, bytes.length - 30]) {
      const kind = (await inspectBytes(bytes.subarray(0, bytes.length - cut))).kind
      assert.equal(kind, 'damaged', `${name} less ${cut} bytes`)
    }
  }
})

test('flipped bits never crash the engine', async () => {
  const names = [...expected.keys()]
  let state = 1
  const random = (below: number): number => (state = (Math.imul(state, 48271) >>> 0) % 2147483647) % below
  for (let round = 0; round < 150; round++) {
    const name = names[round % names.length] ?? ''
    const bytes = readFileSync(join(fixtures, name))
    for (let i = 0; i <= round % 4; i++) {
      const at = random(bytes.length)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
    }
    const { kind } = await inspectBytes(bytes)
    assert.ok(kind === 'image' || kind === 'damaged', name)
  }
  assert.equal((await engine.inspect(join(fixtures, 'rgb.png'))).kind, 'image')
})

test('an SVG reads no file and no address', async () => {
  await writeFile(join(folder, 'secret.png'), readFileSync(join(fixtures, 'rgb.png')))
  const blank = await inspectBytes('<svg xmlns="http://www.w3.org/2000/svg" width="61" height="47"/>')
  for (const href of ['secret.png', `file://${join(folder, 'secret.png')}`, 'http://127.0.0.1:9/x.png']) {
    const got = await inspectBytes(
      `<svg xmlns="http://www.w3.org/2000/svg" width="61" height="47"><image href="${href}" width="61" height="47"/></svg>`,
    )
    assert.deepEqual(got, blank, href)
  }
  const include = await inspectBytes(
    `<!DOCTYPE svg [<!ENTITY e SYSTEM "file://${join(folder, 'secret.svg')}">]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&e;</text></svg>`,
  )
  assert.ok(include.kind === 'image' ? include.dhash === '0000000000000000' : include.kind === 'damaged')
})
