import { HeadBucketCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { isPassing } from './faults.ts'
import type { Operations } from './operations.ts'

/** Rejects when the bucket cannot be used; the reason says why as well as the store does. */
export async function pingBucket(
  { client, location, told, attempts }: Operations,
  ms: number,
): Promise<void> {
  const { bucket, prefix } = location
  const patience = { attempts: 1, silenceMs: ms, totalMs: ms }
  await told('ping', () =>
    attempts('ping', patience, async ({ signal, progress }) => {
      try {
        await client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal: signal })
      } catch (error) {
        if (isPassing(error)) throw error
        // The answer to HEAD has no body, so no reason: that to a listing has one.
        progress()
        const listing = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 })
        await client.send(listing, { abortSignal: signal })
        throw error
      }
    }),
  )
}
