import { hash as digest, randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { dhash } from '../../src/lib/perceptual-hash/index.ts'
import { median } from './compare.ts'
import { ROUNDS } from './options.ts'

const steps = {
  'body to bytes': (body: Buffer) => findImage(body),
  'SHA-256': (_body: Buffer, image: Buffer) => digest('sha256', image, 'buffer'),
  decode: (_body: Buffer, image: Buffer) => decode(image),
  dhash: (_body: Buffer, _image: Buffer, pixels: Pixels) =>
    dhash({ data: pixels.data, width: pixels.info.width, height: pixels.info.height, channels: 3 }),
  'durable write': (_body: Buffer, image: Buffer, _pixels: Pixels, folder: string) => write(folder, image),
}
type Pixels = Awaited<ReturnType<typeof decode>>

/** Performs the unavoidable parts of an upload, from its body to a picture that survives power loss. */
export async function doParts(body: Buffer, folder: string): Promise<void> {
  const image = steps['body to bytes'](body)
  steps['SHA-256'](body, image)
  const pixels = await steps.decode(body, image)
  steps.dhash(body, image, pixels)
  await steps['durable write'](body, image, pixels, folder)
}

/** Measures each part separately. */
export async function timeParts(body: Buffer, folder: string): Promise<string> {
  const image = findImage(body)
  const pixels = await decode(image)
  const timings: string[] = []
  for (const [name, step] of Object.entries(steps)) {
    const times: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const start = performance.now()
      await step(body, image, pixels, folder)
      times.push(performance.now() - start)
    }
    timings.push(`${name} ${median(times).toFixed(1)} ms`)
  }
  return `Each part alone: ${timings.join(', ')}.`
}

const FIELD = Buffer.from('"image":"')

function findImage(body: Buffer): Buffer {
  const from = body.indexOf(FIELD) + FIELD.length
  return Buffer.from(body.toString('latin1', from, body.indexOf('"', from)), 'base64')
}

function decode(image: Buffer) {
  return sharp(image).autoOrient().raw().toBuffer({ resolveWithObject: true })
}

async function write(folder: string, image: Buffer): Promise<void> {
  const path = join(folder, randomBytes(8).toString('hex'))
  const file = await open(`${path}.part`, 'wx')
  await file.writeFile(image)
  await file.sync()
  await file.close()
  await rename(`${path}.part`, path)
  const directory = await open(folder)
  await directory.sync()
  await directory.close()
  await rm(path)
}
