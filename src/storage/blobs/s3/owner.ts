import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import type { Attempt } from './attempts.ts'
import { signDigest } from './client.ts'
import { digestBytes } from './digest.ts'
import { isNamed } from './faults.ts'
import type { Operations } from './operations.ts'

/** Below the prefix, so that no listing of blobs has it, an older version's neither. */
const OWNER = 'catalejo/owner'

/** Whom the prefix belongs to, kept in an object under it. See `BlobStore.owner`. */
export async function ownerObject(
  { client, addressOf, operate }: Operations,
  claim: string | undefined,
): Promise<string | undefined> {
  async function read({ signal }: Attempt): Promise<string | undefined> {
    try {
      const { Body } = await client.send(new GetObjectCommand(addressOf(OWNER)), { abortSignal: signal })
      return (await Body?.transformToString())?.trim()
    } catch (error) {
      if (isNamed(error, 'NoSuchKey')) return undefined
      throw error
    }
  }

  async function write(id: string, { signal }: Attempt): Promise<void> {
    const content = Buffer.from(`${id}\n`)
    const command = new PutObjectCommand({
      ...addressOf(OWNER),
      Body: content,
      ContentType: 'text/plain',
      IfNoneMatch: '*',
    })
    try {
      await client.send(signDigest(command, await digestBytes(content)), { abortSignal: signal })
    } catch (error) {
      // Somebody came first; who, shows when it is read.
      if (!isNamed(error, 'PreconditionFailed')) throw error
    }
  }

  return operate('owner', 0, async (attempt) => {
    const owner = await read(attempt)
    if (owner !== undefined || claim === undefined) return owner
    await write(claim, attempt)
    return read(attempt)
  })
}

export async function removeOwnerObject({ client, addressOf, operate }: Operations): Promise<void> {
  await operate('owner', 0, async ({ signal }) => {
    await client.send(new DeleteObjectCommand(addressOf(OWNER)), { abortSignal: signal })
  })
}
