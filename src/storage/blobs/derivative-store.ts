/**
 * A distant place for what can be made again: small objects by the blob they were made of and a name. Its callers expect
 * little of it, so it gives up early.
 */
export interface DerivativeStore {
  /** Undefined when there is none. */
  get(blobKey: string, name: string): Promise<Buffer | undefined>
  put(blobKey: string, name: string, bytes: Buffer): Promise<void>
  /** Removes all of one blob; none is no fault. Unlike the others it is patient. */
  removeAll(blobKey: string): Promise<void>
  remove(blobKey: string, name: string): Promise<void>
  /** All whose blob's key begins with `start`, by blob; when they were written in milliseconds since 1970. */
  list(start: string): AsyncIterable<StoredDerivative>
  close(): void
}

export interface StoredDerivative {
  readonly blobKey: string
  readonly name: string
  readonly writtenAt: number
}
