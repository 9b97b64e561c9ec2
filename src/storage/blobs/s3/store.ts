import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { BlobStore } from '../blob-store.ts'
import type { Staging } from '../staging.ts'
import { createS3Client } from './client.ts'
import { digestBytes, saveTo } from './digest.ts'
import { createLending } from './lending.ts'
import { listKeys } from './listing.ts'
import type { Attempt } from './attempts.ts'
import type { S3Location } from './location.ts'
import { headObject, removeObject } from './objects.ts'
import { createOperations, type ObserveAttempts, type ObserveFaults, type Operations } from './operations.ts'
import { fairSlots, S3_DEFAULTS, SERVICE, type S3Options } from './options.ts'
import { ownerObject, removeOwnerObject } from './owner.ts'
import { pingBucket } from './ping.ts'
import { presign } from './presign.ts'
import { putFile } from './put.ts'
import { moveAside } from './quarantine.ts'
import { fetchWhole, openBody, type Streaming } from './read.ts'

/** Blobs as objects of an S3 store. What it returns is closed by `close`. */
export function openS3Blobs(
  location: S3Location,
  staging: Staging,
  onFault: ObserveFaults,
  options: S3Options = S3_DEFAULTS,
  onAttempt: ObserveAttempts = () => {},
): { readonly store: BlobStore; readonly close: () => void } {
  const { patience } = options
  const operations = createOperations(location, options, onFault, onAttempt)
  const { client, addressOf, told, operate } = operations
  // Only signs addresses: for clients that reach the store in another way than we do.
  const publicClient =
    location.publicEndpoint === undefined
      ? client
      : createS3Client({ ...location, endpoint: location.publicEndpoint }, 1)
  const limits = { silenceMs: patience.silenceMs, stallMs: options.stallMs }
  const streaming: Streaming = {
    streams: fairSlots(options.streams, options.streamsPerClient, options),
    patience,
    limits,
    onFault,
  }

  const copies = fairSlots(options.copies, options.copiesPerClient, {
    ...options,
    lineMs: options.copyLineMs,
  })
  const lend = createLending(copies, (key, client) => {
    const fetch = async (attempt: Attempt) => {
      const path = staging.freshPath()
      const save = (body: Readable) => saveTo(path, body, attempt.signal)
      try {
        return (await fetchWhole(operations, limits, key, attempt, undefined, save)) ? path : undefined
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
    }
    // How large it is shows with the answer only; silence is what ends a download that stands still.
    return operate('lend', 64 * options.leastRate, fetch, client)
  })

  const store: BlobStore = {
    put: (key, staged, client) => putFile(operations, limits, key, staged, client),

    read: (key, size, client) => {
      const fetch = async (attempt: Attempt) => {
        let bytes: Buffer<ArrayBuffer> | undefined
        await fetchWhole(operations, limits, key, attempt, size, async (body) => {
          bytes = Buffer.concat(await body.toArray())
          return digestBytes(bytes)
        })
        return bytes
      }
      return operate('read', size, fetch, client)
    },

    stream: (key, start, end, client) =>
      told('stream', () => streamPart(operations, streaming, key, { start, end }, client)),

    whole: (key) =>
      told('stream', () =>
        openBody(operations, streaming, key, undefined, ({ ContentLength = NaN }) => ContentLength, SERVICE),
      ),

    lend,
    remove: (key) => operate('remove', 0, (attempt) => removeObject(operations, key, attempt)),
    quarantine: (key) => moveAside(operations, key),
    owner: (claim) => ownerObject(operations, claim),
    disown: () => removeOwnerObject(operations),
    keys: () => listKeys(operations, options.page),
    ping: () => pingBucket(operations, options.pingMs),
    locate: (key, mime) => told('locate', () => presign(publicClient, addressOf(key), mime)),
  }

  return {
    store,
    close: () => {
      client.destroy()
      publicClient.destroy()
    },
  }
}

async function streamPart(
  operations: Operations,
  streaming: Streaming,
  key: string,
  { start, end }: { readonly start: number; readonly end: number },
  client: string = SERVICE,
): Promise<Readable | undefined> {
  // No `Range` can ask for nothing.
  if (end < start) {
    const found = await operations.attempts('stream', streaming.patience, (attempt) =>
      headObject(operations, key, attempt),
    )
    return found && Readable.from([])
  }
  const lengthOf = ({ ContentRange }: { readonly ContentRange?: string | undefined }) =>
    ContentRange?.startsWith(`bytes ${start}-${end}/`) === true ? end - start + 1 : NaN
  const opened = await openBody(operations, streaming, key, `bytes=${start}-${end}`, lengthOf, client)
  return opened?.body
}
