import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { BlobAddress } from '../blob-store.ts'

/** Signatures are made for points in time this far apart, so that an address repeats and caches can know it again. */
const WINDOW_SECONDS = 300
/** From the last moment that an address is handed out until it ends. */
const GRACE_SECONDS = 60

/**
 * An address at the store itself where a client may fetch an object for a short while. It fixes the headers that the
 * store will send, so that the object is never taken for anything but an image.
 */
export async function presign(
  client: S3Client,
  address: { readonly Bucket: string; readonly Key: string },
  mime: string,
  now: number = Date.now(),
): Promise<BlobAddress> {
  const window = WINDOW_SECONDS * 1_000
  const signedAt = Math.floor(now / window) * window
  const command = new GetObjectCommand({
    ...address,
    ResponseContentType: mime,
    ResponseContentDisposition: 'inline',
    ResponseCacheControl: 'public, max-age=31536000, immutable',
  })
  const url = await getSignedUrl(client, command, {
    signingDate: new Date(signedAt),
    expiresIn: WINDOW_SECONDS + GRACE_SECONDS,
  })
  return { url, seconds: Math.max(1, Math.floor((signedAt + window - now) / 1_000)) }
}
