import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import type { StagedFile } from '../staging.ts'
import type { Attempt } from './attempts.ts'
import { guardBody, type BodyLimits } from './body.ts'
import { signDigest } from './client.ts'
import { digestBytes, digestFile } from './digest.ts'
import { isNamed } from './faults.ts'
import { DIGEST, headObject } from './objects.ts'
import type { Operations } from './operations.ts'

/** Smaller uploads go from memory, larger ones from their file. */
const BUFFERED_BYTES = 1024 * 1024

/** Stores a file under a key that nobody has. */
export async function putFile(
  operations: Operations,
  limits: BodyLimits,
  key: string,
  staged: StagedFile,
  client: string | undefined,
): Promise<void> {
  const content = staged.size <= BUFFERED_BYTES ? await readFile(staged.path) : undefined
  const digest = await (content === undefined ? digestFile(staged.path) : digestBytes(content))
  const attemptPut = async (attempt: Attempt) => {
    const body =
      content ??
      guardBody(createReadStream(staged.path), staged.size, { ...limits, progress: attempt.progress })
    try {
      await put(operations, key, body, { size: staged.size, digest }, attempt)
    } finally {
      if (body instanceof Readable) body.destroy()
    }
  }
  await operations.operate('put', staged.size, attemptPut, client)
}

async function put(
  operations: Operations,
  key: string,
  body: Readable | Buffer,
  { size, digest }: { readonly size: number; readonly digest: string },
  attempt: Attempt,
): Promise<void> {
  const { client, addressOf } = operations
  const command = new PutObjectCommand({
    ...addressOf(key),
    Body: body,
    ContentLength: size,
    // Stores that know it keep it and check it for themselves as long as the object lives.
    ChecksumSHA256: Buffer.from(digest, 'hex').toString('base64'),
    Metadata: { [DIGEST]: digest },
    IfNoneMatch: '*',
  })
  try {
    await client.send(signDigest(command, digest), { abortSignal: attempt.signal })
  } catch (error) {
    if (!isNamed(error, 'PreconditionFailed')) throw error
    // An attempt before this one may have arrived without its answer coming back.
    const found = attempt.number === 1 ? undefined : await headObject(operations, key, attempt)
    if (found?.ContentLength === size && found.Metadata?.[DIGEST] === digest) return
    throw new Error(`the key ${key} is taken`)
  }
}
