import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { ImageEngine } from './index.ts'
import type { Inspection } from './decoder-process.ts'

const engine = new ImageEngine({ workers: 2 })
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

const avif = (): Promise<Buffer> => sharp(join(fixtures, 'rgb.png')).avif({ effort: 0 }).toBuffer()

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
