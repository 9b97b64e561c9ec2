// Measures CPU time, size and quality for each effort of the AVIF encoder. `node avif.ts [FILE…]` adds these
// pictures.
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import sharp, { type AvifOptions } from 'sharp'
import { median } from './lib/compare.ts'
import { psnr, ssim } from './lib/image-similarity.ts'
import { FILES } from './lib/options.ts'
import { photo } from './lib/photos.ts'

const EFFORTS = [0, 1, 2, 3, 4]
const SAMPLINGS = ['4:2:0', '4:4:4']
const ROUNDS = 3

sharp.concurrency(1)
sharp.cache(false)

const pictures = [{ name: 'a generated photograph of 12 megapixels', bytes: await photo(4243, 2828) }]
for (const path of FILES) pictures.push({ name: basename(path), bytes: await readFile(path) })

const small = (bytes: Buffer) => sharp(bytes).autoOrient().resize(512, 512, { fit: 'inside' }).removeAlpha()
const raw = (bytes: Buffer) => sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })

for (const { name, bytes } of pictures) {
  const original = await small(bytes).png().toBuffer()
  const { data, info } = await raw(original)
  console.log(`\n### ${name}, to ${info.width}×${info.height}\n`)
  console.log('| | CPU, with decoding and resizing | bytes | PSNR | SSIM |')
  console.log('|---|---|---|---|---|')
  const report = async (what: string, encode: () => Promise<Buffer>) => {
    const times: number[] = []
    let encoded = await encode()
    for (let round = 0; round < ROUNDS; round++) {
      const before = process.cpuUsage()
      encoded = await encode()
      const { user, system } = process.cpuUsage(before)
      times.push((user + system) / 1_000)
    }
    const copy = (await raw(encoded)).data
    const pair = { original: data, copy, width: info.width, height: info.height }
    const cells = [what, `${median(times).toFixed(0)} ms`, encoded.length.toLocaleString('en')]
    console.log(`| ${[...cells, `${psnr(pair).toFixed(2)} dB`, ssim(pair).toFixed(4)].join(' | ')} |`)
  }
  await report('JPEG q80', () => small(bytes).jpeg({ quality: 80 }).toBuffer())
  await report('WebP q80', () => small(bytes).webp({ quality: 80 }).toBuffer())
  for (const chromaSubsampling of SAMPLINGS) {
    for (const effort of EFFORTS) {
      const options: AvifOptions = { quality: 50, effort, chromaSubsampling }
      await report(`AVIF q50, ${chromaSubsampling}, effort ${effort}`, () =>
        small(bytes).avif(options).toBuffer(),
      )
    }
  }
}
