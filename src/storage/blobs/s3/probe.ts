import { DeleteObjectCommand, GetBucketVersioningCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { randomUUID } from 'node:crypto'
import { openClient } from './client.ts'
import { isNamed } from './errors.ts'
import type { S3Location } from './location.ts'

const SILENCE_MS = 4_000

/** Finds out by writing and removing a small object what an object store can do. */
export async function probeS3(
  location: S3Location,
): Promise<{ readonly hasConditionalWrites: boolean; readonly hasVersioning: boolean }> {
  const client = openClient(location, {
    maxSockets: 2,
    maxAttempts: 2,
    silenceMs: SILENCE_MS,
    headMs: SILENCE_MS,
  })
  const object = { Bucket: location.bucket, Key: `${location.prefix}probe-${randomUUID()}` }
  try {
    await client.send(new PutObjectCommand({ ...object, Body: 'probe' }))
    const hasConditionalWrites = await client
      .send(new PutObjectCommand({ ...object, Body: 'again', IfNoneMatch: '*' }))
      .then(
        () => false,
        (error: unknown) => {
          if (isNamed(error, 'PreconditionFailed')) return true
          throw error
        },
      )
    // Keys often lack the right to ask.
    const versioning = await client
      .send(new GetBucketVersioningCommand({ Bucket: location.bucket }))
      .catch(() => undefined)
    return { hasConditionalWrites, hasVersioning: versioning?.Status === 'Enabled' }
  } finally {
    await client.send(new DeleteObjectCommand(object)).catch(() => {})
    client.destroy()
  }
}
