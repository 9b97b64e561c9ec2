import { CopyObjectCommand, DeleteObjectCommand } from '@aws-sdk/client-s3'
import { isNamed } from './faults.ts'
import type { Operations } from './operations.ts'

/** Below the prefix, so that no listing of blobs has what is in it. */
const QUARANTINE = 'quarantine/'

/** The largest object that is copied: what is bounded by the settings at 512 MiB may have grown by being damaged. */
const COPY_BYTES = 1024 * 1024 * 1024

/** Moves an object aside, within the store. It is removed once its copy is there. */
export async function moveAside(operations: Operations, key: string): Promise<void> {
  const { client, addressOf, operate } = operations
  await operate('quarantine', COPY_BYTES, async ({ signal }) => {
    const { Bucket, Key } = addressOf(key)
    const copy = new CopyObjectCommand({
      ...addressOf(QUARANTINE + key),
      CopySource: [Bucket, ...Key.split('/')].map(encodeURIComponent).join('/'),
    })
    try {
      await client.send(copy, { abortSignal: signal })
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return
      throw error
    }
    await client.send(new DeleteObjectCommand({ Bucket, Key }), { abortSignal: signal })
  })
}
