import type { BlobStore } from './blob-store.ts'
import type { DerivativeStore } from './derivative-store.ts'
import { openFileBlobs } from './files.ts'
import { withParsedKeys } from './parsed-keys.ts'
import type { S3Location } from './s3/location.ts'
import { resuming } from './s3/resumed.ts'
import type { ObserveAttempts, ObserveFaults } from './s3/operations.ts'
import type { Staging } from './staging.ts'

/** What is behind an answer that only says that the service is overloaded. */
export function reasonOf({ cause, message }: Error): string {
  return cause instanceof Error ? cause.message : message
}

/**
 * The store that the settings ask for.
 * @param location undefined for files in `folder`
 * @param onFault told of every operation of a distant store that failed for good
 * @param onAttempt told of every request to a distant store
 */
export async function openBlobs(
  location: S3Location | undefined,
  folder: string,
  staging: Staging,
  onFault: ObserveFaults,
  onAttempt?: ObserveAttempts,
): Promise<{ readonly store: BlobStore; readonly close: () => void }> {
  if (location === undefined) {
    return { store: withParsedKeys(await openFileBlobs(folder)), close: () => {} }
  }
  // The client library is large: who keeps files does not load it.
  const { openS3Blobs } = await import('./s3/store.ts')
  const opened = openS3Blobs(location, staging, onFault, undefined, onAttempt)
  // It may come up later than this service, so nothing waits for it; but what is wrong is logged at once.
  opened.store.ping().catch(() => {})
  return { ...opened, store: withParsedKeys(resuming(opened.store)) }
}

/** A place for derivatives beside an object store's blobs. */
export async function openDerivativeStore(location: S3Location): Promise<DerivativeStore> {
  const { openS3Derivatives } = await import('./s3/derivatives.ts')
  return openS3Derivatives(location)
}
