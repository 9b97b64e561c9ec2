// Measures the output of `f_auto`. `node auto-format.ts [FILE…]` compares AVIF with WebP at equal SSIMULACRA scores for
// photographs (JPEG), and sizes with lossless WebP, PNG and the original for drawings (PNG). Scores need
// `ssimulacra_main` (package libjxl-devtools in Debian).
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { ImageEngine } from '../src/imagestore/decoder/index.ts'
import { UNCHANGED, type ResolvedTransformation } from '../src/imagestore/modifiers/index.ts'
import { FILES } from './lib/options.ts'
import { photo } from './lib/photos.ts'

const WIDTHS = [320, 512, 800]
const EFFORTS = [0, 1, 2, 3]
const DRAWING_WIDTH = 320

sharp.concurrency(1)
sharp.cache(false)
const folder = await mkdtemp(join(tmpdir(), 'catalejo-auto-'))
const engine = new ImageEngine({ workers: 1 })

async function getScore(reference: Buffer, copy: Buffer): Promise<number> {
  const [one, other] = [join(folder, 'reference.png'), join(folder, 'copy.png')]
  await writeFile(one, reference)
  await writeFile(other, await sharp(copy).png().toBuffer())
  return Number(execFileSync('ssimulacra_main', [one, other], { stdio: ['ignore', 'pipe', 'ignore'] }))
}

async function timed(make: () => Promise<Buffer>): Promise<{ bytes: Buffer; ms: number }> {
  await make()
  const before = process.cpuUsage()
  const bytes = await make()
  const { user, system } = process.cpuUsage(before)
  return { bytes, ms: (user + system) / 1_000 }
}

/** Finds the lowest AVIF quality whose score is at most `worst` (lower is better). */
async function equalAvif(reference: Buffer, open: () => Sharp, effort: number, worst: number) {
  let found: { readonly quality: number; readonly bytes: number; readonly ms: number } | undefined
  for (let low = 30, high = 95; low <= high;) {
    const quality = (low + high) >> 1
    const { bytes, ms } = await timed(() =>
      open().avif({ quality, effort, chromaSubsampling: '4:2:0' }).toBuffer(),
    )
    if ((await getScore(reference, bytes)) <= worst) {
      found = { quality, bytes: bytes.length, ms }
      high = quality - 1
    } else low = quality + 1
  }
  return found
}

const isDrawing = (path: string) => path.endsWith('.png')

console.log('### Photographs: AVIF with the score of WebP at quality 80\n')
console.log(`| | WebP q80 | ${EFFORTS.map((effort) => `AVIF, effort ${effort}`).join(' | ')} |`)
console.log(`|---|---|${EFFORTS.map(() => '---|').join('')}`)
const photos = FILES.filter((path) => !isDrawing(path))
const pictures: { readonly name: string; readonly bytes: Buffer }[] = await Promise.all(
  photos.map(async (path) => ({ name: basename(path), bytes: await readFile(path) })),
)
if (pictures.length === 0) pictures.push({ name: 'generated', bytes: await photo(2000, 1333) })
for (const { name, bytes } of pictures) {
  for (const width of WIDTHS) {
    const small = sharp(bytes).autoOrient().resize(width, width, { fit: 'inside' }).removeAlpha()
    const reference = await small.png().toBuffer()
    const open = () => sharp(reference)
    const webp = await timed(() => open().webp({ quality: 80 }).toBuffer())
    const worst = await getScore(reference, webp.bytes)
    const cells = [`${name}, ${width}`, `${webp.bytes.length} bytes, ${webp.ms.toFixed(0)} ms`]
    for (const effort of EFFORTS) {
      const avif = await equalAvif(reference, open, effort, worst)
      const share = avif && (avif.bytes / webp.bytes.length).toFixed(2)
      cells.push(avif === undefined ? 'none' : `q${avif.quality}, ${share}, ${avif.ms.toFixed(0)} ms`)
    }
    console.log(`| ${cells.join(' | ')} |`)
  }
}

async function derived(path: string, plan: Partial<ResolvedTransformation>): Promise<Buffer | undefined> {
  const made = await engine.derive(path, { ...UNCHANGED, width: DRAWING_WIDTH, ...plan })
  return made.kind === 'image' ? Buffer.from(made.bytes) : undefined
}

const totals = { auto: 0, webp: 0, png: 0, original: 0, pictures: 0, larger: 0 }
for (const path of FILES.filter(isDrawing)) {
  const original = (await readFile(path)).length
  const auto = await derived(path, { accepted: ['avif', 'webp', 'png', 'own'] })
  const png = await derived(path, { format: 'png' })
  if (auto === undefined || png === undefined) continue
  const webp = (await sharp(png).webp({ lossless: true }).toBuffer()).length
  totals.pictures++
  totals.auto += auto.length
  totals.webp += webp
  totals.png += png.length
  totals.original += original
  if (auto.length > Math.min(webp, png.length, original)) totals.larger++
}
if (totals.pictures > 0) {
  console.log(`\n### ${totals.pictures} drawings at w_${DRAWING_WIDTH}\n`)
  console.log('| `f_auto` | lossless WebP | PNG | originals | larger than the smallest of the three |')
  console.log('|---|---|---|---|---|')
  const { auto, webp, png, original, larger } = totals
  console.log(`| ${[auto, webp, png, original].map((n) => n.toLocaleString('en')).join(' | ')} | ${larger} |`)
}
await engine.close()
await rm(folder, { recursive: true })
