import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { BlobDamaged } from '../damaged.ts'
import type { Attempt } from './attempts.ts'
import { isNamed } from './faults.ts'
import type { Operations } from './operations.ts'

/** Metadata of each blob: its SHA-256 in hexadecimal, compared whenever the whole of it is read. */
export const DIGEST = 'sha256'

/** A single object, asked for once; undefined when there is none. */
export async function getObject(
  { client, addressOf }: Operations,
  key: string,
  { signal }: Attempt,
  range?: string,
): Promise<(GetObjectCommandOutput & { Body: Readable }) | undefined> {
  const command = new GetObjectCommand({
    ...addressOf(key),
    ...(range === undefined ? {} : { Range: range }),
  })
  try {
    const output = await client.send(command, { abortSignal: signal })
    const { Body } = output
    if (!(Body instanceof Readable)) throw new Error('an answer without a body')
    // Until somebody reads it, a body that breaks is nobody's fault.
    Body.on('error', () => {})
    return { ...output, Body }
  } catch (error) {
    if (isNamed(error, 'NoSuchKey')) return undefined
    if (isNamed(error, 'InvalidRange')) throw new BlobDamaged(`${key} has no ${range}`)
    throw error
  }
}

export async function headObject(
  { client, addressOf }: Operations,
  key: string,
  { signal }: Attempt,
): Promise<HeadObjectCommandOutput | undefined> {
  try {
    return await client.send(new HeadObjectCommand(addressOf(key)), { abortSignal: signal })
  } catch (error) {
    if (isNamed(error, 'NotFound', 'NoSuchKey')) return undefined
    throw error
  }
}

/** One that is not there is no fault. */
export async function removeObject(
  { client, addressOf }: Operations,
  key: string,
  { signal }: Attempt,
): Promise<void> {
  try {
    await client.send(new DeleteObjectCommand(addressOf(key)), { abortSignal: signal })
  } catch (error) {
    if (!isNamed(error, 'NoSuchKey')) throw error
  }
}
