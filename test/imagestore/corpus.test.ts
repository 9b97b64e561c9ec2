import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import sharp from 'sharp'
import { corpus, hashedPicture, inCorpus } from '../support/corpus.ts'
import { bytesOf, DAMAGED, expectedHash, plain, UNEDITED } from '../support/images.ts'
import { startImages } from '../support/image-service.ts'

/** The files of a folder of the corpus. */
async function getFiles(folder: string, extension: string) {
  const url = new URL(`${folder}/`, corpus)
  const wanted = (await readdir(url)).filter((name) => name.endsWith(extension)).toSorted()
  return Promise.all(wanted.map(async (name) => ({ name, bytes: await readFile(new URL(name, url)) })))
}

/** In how many of 64 bits two dhashes differ. */
function distance(a: string, b: string): number {
  const bits = (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2)
  return bits.replaceAll('0', '').length
}

const { client: fotos } = await startImages()

test('every valid PNG of PngSuite is stored with its size', async () => {
  const files = await getFiles('png/valid', '.png')
  assert.equal(files.length, inCorpus(161, 12))
  for (const { name, bytes } of files) {
    const { status, body } = await fotos.upload(bytes, { name })
    const { dhash, color, thumbhash: _, similar: __, link: ___, dark: ____, ...rest } = body
    assert.match(String(dhash), /^[0-9a-f]{16}$/, name)
    assert.match(String(color), /^(?:#[0-9a-f]{6}|null)$/, name)
    // Where a PNG keeps its size: the first fields of the first chunk.
    const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
    const expected = {
      status: 200,
      hash: expectedHash(bytes),
      size: bytes.length,
      width,
      height,
      ...UNEDITED,
    }
    assert.deepEqual([status, rest], [200, expected], name)
  }
})

test('every damaged PNG of PngSuite is refused', async () => {
  const files = await getFiles('png/damaged', '.png')
  assert.equal(files.length, inCorpus(14, 8))
  for (const { name, bytes } of files) assert.deepEqual(plain(await fotos.upload(bytes)), DAMAGED, name)
})

test('the dhash that the ImageHash library publishes for its picture', async () => {
  const bytes = await readFile(hashedPicture.file)
  assert.equal((await fotos.upload(bytes)).body['dhash'], hashedPicture.dhash)
})

for (const [set, width, height] of [
  ['Landscape', 1_800, 1_200],
  ['Portrait', 1_200, 1_800],
] as const) {
  test(`${set}: six EXIF orientations of one picture look the same`, async () => {
    const files = (await getFiles('orientation', '.jpg'))?.filter(({ name }) => name.startsWith(set))
    assert.equal(files.length, 6)
    const dhashes: string[] = []
    const small: Buffer[] = []
    for (const { name, bytes } of files) {
      const { body } = await fotos.upload(bytes)
      assert.deepEqual([body['width'], body['height']], [width, height], name)
      dhashes.push(String(body['dhash']))
      const made = await bytesOf(await fotos.link(`${expectedHash(bytes)}&m=w_90,h_90,f_png`))
      const { data, info } = await sharp(made).removeAlpha().raw().toBuffer({ resolveWithObject: true })
      assert.deepEqual([info.width, info.height], set === 'Landscape' ? [90, 60] : [60, 90], name)
      assert.equal((await sharp(made).metadata()).orientation ?? 1, 1, 'no turn is left to the viewer')
      small.push(data)
    }
    const [firstHash, firstPixels] = [dhashes[0], small[0]]
    assert.ok(firstHash !== undefined && firstPixels !== undefined)
    for (const [index, pixels] of small.entries()) {
      assert.ok(distance(firstHash, dhashes[index] ?? '') <= 4, files[index]?.name)
      assert.ok(meanDifference(firstPixels, pixels) < 12, files[index]?.name)
    }
  })
}

function meanDifference(a: Buffer, b: Buffer): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += Math.abs((a[at] ?? 0) - (b[at] ?? 0))
  return sum / a.length
}
