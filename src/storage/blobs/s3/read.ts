import type { Readable } from 'node:stream'
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3'
import type { FairSlots } from '../../../lib/fair-slots.ts'
import { BlobDamaged } from '../damaged.ts'
import type { Attempt, Patience } from './attempts.ts'
import { firstBytes, guardBody, type BodyLimits } from './body.ts'
import { translate } from './faults.ts'
import { DIGEST, getObject } from './objects.ts'
import type { ObserveFaults, Operations } from './operations.ts'

/**
 * One whole blob, chunk by chunk into `take`, which tells its digest. False when there is none.
 * @param size undefined where any will do
 */
export async function fetchWhole(
  operations: Operations,
  limits: BodyLimits,
  key: string,
  attempt: Attempt,
  size: number | undefined,
  take: (body: Readable) => Promise<string>,
): Promise<boolean> {
  const found = await getObject(operations, key, attempt)
  if (found === undefined) return false
  const length = found.ContentLength
  if (length === undefined || (size !== undefined && length !== size)) {
    found.Body.destroy()
    throw new BlobDamaged(`${key} is ${length} bytes long, not ${size}`)
  }
  const digest = await take(guardBody(found.Body, length, { ...limits, progress: attempt.progress }))
  const expected = found.Metadata?.[DIGEST]
  if (expected !== undefined && digest !== expected) throw new BlobDamaged(`${key} has other content`)
  return true
}

/** How bodies are opened that are read at somebody else's pace. */
export interface Streaming {
  /** Each open body holds one. */
  readonly streams: FairSlots
  readonly patience: Patience
  readonly limits: BodyLimits
  /** Told of bodies that break once they were handed out. */
  readonly onFault: ObserveFaults
}

/**
 * Opens a body that is read at somebody else's pace, and holds a place among the streams for as long.
 * @param lengthOf what it must be long, NaN where the answer is not to what was asked
 */
export async function openBody(
  operations: Operations,
  { streams, patience, limits, onFault }: Streaming,
  key: string,
  range: string | undefined,
  lengthOf: (found: GetObjectCommandOutput) => number,
  client: string,
): Promise<{ readonly size: number; readonly body: Readable } | undefined> {
  const release = await streams.take(client)
  try {
    return await operations.attempts('stream', patience, async (attempt) => {
      const found = await getObject(operations, key, attempt, range)
      if (found === undefined) {
        release()
        return undefined
      }
      const size = lengthOf(found)
      if (found.ContentLength !== size) {
        found.Body.destroy()
        throw new BlobDamaged(`${key} has no ${range ?? 'known length'}`)
      }
      const body = guardBody(found.Body, size, limits)
      // A fault that shows before the first byte is still an answer of its own, and may be cured by another attempt.
      await firstBytes(body)
      body.on('error', (error) => onFault('stream', translate('stream', error)))
      found.Body.once('close', release)
      if (found.Body.closed) release()
      return { size, body }
    })
  } catch (error) {
    release()
    throw error
  }
}
