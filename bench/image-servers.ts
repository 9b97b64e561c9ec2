// Follows the public benchmark of image servers: two clients request uncached photographs of 2 megapixels at 512
// pixels. The reference is imgproxy's published result on two virtual cores. Sources are JPEG, or have the requested
// format.
import sharp, { type Sharp } from 'sharp'
import { median } from './lib/compare.ts'
import { fetched, lanes } from './lib/concurrent-load.ts'
import { chosen, ROUNDS } from './lib/options.ts'
import { photo } from './lib/photos.ts'
import { post } from './lib/post.ts'
import { BOX, renditions, type Rendition } from './lib/renditions.ts'
import { startService } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const CLIENTS = 2
/** Different pictures; more than clients. */
const SOURCES = 4

await withWorkspace(async (workspace) => {
  const service = await startService(workspace, {
    flags: ['--memory-cache', '0', '--derivative-cache', '0'],
    core: 'any',
  })
  const photos: Buffer[] = []
  for (let i = 0; i < SOURCES; i++) photos.push(await photo(1732, 1155))
  const ofJpeg = await Promise.all(photos.map((bytes) => upload(bytes)))

  console.log(
    `\n### Public benchmark: ${CLIENTS} clients, 2 megapixels to ${BOX} pixels, requests per second\n`,
  )
  console.log('| | imgproxy, published | here, from JPEG | here, from the same format |')
  console.log('|---|---|---|---|')
  for (const rendition of chosen(renditions, ({ name }) => name)) {
    const ofOwn =
      rendition.name === 'jpeg' ? ofJpeg : await Promise.all(photos.map((bytes) => own(rendition, bytes)))
    const rates = [await getRate(rendition, ofJpeg), await getRate(rendition, ofOwn)]
    const cells = [rendition.title, rendition.yardstick, ...rates.map((rate) => `**${rate.toFixed(1)}**`)]
    console.log(`| ${cells.join(' | ')} |`)
  }

  async function own({ encode }: Rendition, bytes: Buffer): Promise<string> {
    const image: Sharp = sharp(bytes)
    return upload(await encode(image).toBuffer())
  }

  async function upload(bytes: Buffer): Promise<string> {
    const info = { name: 'foto', mime: 'image/jpeg', ip: '200.1.2.3' }
    const body = JSON.stringify({ info, image: bytes.toString('base64') })
    const answer: { hash: string } = JSON.parse(
      await post(service.endpoint('imagestore/upload'), 'application/json', Buffer.from(body)),
    )
    return answer.hash
  }

  /** Median of the rounds, after a warm-up round. */
  async function getRate({ token }: Rendition, hashes: readonly string[]): Promise<number> {
    const rates: number[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const { perSecond } = await lanes(CLIENTS, service.pid, (i) =>
        fetched(`${service.url}/i/${hashes[i % SOURCES]}&m=w_${BOX},h_${BOX},${token}`),
      )
      if (round > 0) rates.push(perSecond)
    }
    return median(rates)
  }
})
