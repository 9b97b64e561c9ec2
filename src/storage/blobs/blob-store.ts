import type { Readable } from 'node:stream'
import type { StagedFile } from './staging.ts'

/**
 * Immutable byte strings under keys. A key is written once and never rewritten: whoever stores the same
 * content anew takes a new key, so that a removal can never race a new upload of the same bytes.
 */
export interface BlobStore {
  // `client` is who waits for it, so that clients can share the requests to a distant store fairly; the service itself by default.

  /** Stores a staged file under a new key. When this resolves the bytes survive power loss. */
  put(key: string, staged: StagedFile, client?: string): Promise<void>
  /**
   * The whole blob of a known size, for small ones; undefined when there is none.
   * @throws BlobDamaged when it has another size
   */
  read(key: string, size: number, client?: string): Promise<Buffer | undefined>
  /**
   * Fills `target` with the whole blob, for stores that need not wait for it.
   * @param target as long as the blob
   * @returns false for whatever `read` has to be asked for
   */
  readonly readAtOnce?: (key: string, target: Buffer) => boolean
  /**
   * The bytes from `start` to `end` (inclusive) as a stream; undefined when there is no such blob.
   * @throws BlobDamaged when it has no such bytes: a stream that was handed out gives all of them or fails
   */
  stream(key: string, start: number, end: number, client?: string): Promise<Readable | undefined>
  /** All that is stored under a key, whatever size that has, for those that check it; undefined when there is none. */
  whole(key: string): Promise<{ readonly size: number; readonly body: Readable } | undefined>
  /** Lends a local file that holds the blob for as long as `use` runs; undefined when there is no such blob. */
  lend<T>(key: string, use: (path: string) => Promise<T>, client?: string): Promise<T | undefined>
  /** Removes a blob; one that is not there is no fault. */
  remove(key: string): Promise<void>
  /** Moves a blob aside, to where only a person looks for it; one that is not there is no fault. */
  quarantine(key: string): Promise<void>
  /**
   * Whom the store belongs to: the id that was claimed first; undefined when nobody claimed it yet.
   * @param claim an id that becomes the owner where there is none
   */
  owner(claim?: string): Promise<string | undefined>
  /** From then on it belongs to nobody. */
  disown(): Promise<void>
  /** Every key, with the time its blob was written (milliseconds since 1970), in no order. */
  keys(): AsyncIterable<{ readonly key: string; readonly writtenAt: number }>
  /** Rejects when the store cannot be used. */
  ping(): Promise<void>
  /** Where clients may fetch a blob by themselves, as `mime`, for stores that can be asked over the network. */
  readonly locate?: (key: string, mime: string) => Promise<BlobAddress>
}

export interface BlobAddress {
  readonly url: string
  /** How long the address may be handed on to others. */
  readonly seconds: number
}
