import { UploadBody } from './photos.ts'
import { post } from './post.ts'
import type { Service } from './service.ts'

/** Concurrent uploads during preparation. */
const LANES = 8

/** Uploads `count` unique copies of a picture. Returns the hashes in the order of the stamps. */
export async function uploadMany(service: Service, image: Buffer, count: number): Promise<string[]> {
  const hashes: string[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: Math.min(LANES, count) }, async () => {
      const body = new UploadBody(image)
      for (let i = next++; i < count; i = next++) {
        const bytes = body.stamped(i)
        const answer: { hash: string } = JSON.parse(
          await post(service.endpoint('imagestore/upload'), body.contentType, bytes),
        )
        hashes[i] = answer.hash
      }
    }),
  )
  return hashes
}
