import type { Readable } from 'node:stream'
import type { Caller } from '../../lib/client.ts'
import type { StagedFile } from './staging.ts'

/**
 * Immutable byte strings under keys. A key is written once and never rewritten: storing the same content again takes a new
 * key, so that a removal cannot race a new upload of the same bytes.
 *
 * `client` or `caller` is who waits for an operation, so that clients share the requests to a remote store fairly; the service
 * itself by default. A read ends when its caller has left.
 */
export interface BlobStore {
  /** Stores a staged file under a new key. When this resolves the bytes survive power loss. */
  put(key: string, staged: StagedFile, client?: Caller['client']): Promise<void>
  /**
   * Reads a whole blob of a known size into memory. Undefined if there is none.
   * @throws BlobDamaged if it has another size
   */
  read(key: string, size: number, caller?: Caller): Promise<Buffer | undefined>
  /**
   * Opens the bytes from `start` to `end` (inclusive). Undefined if there is no such blob. A stream that ends without an
   * error has all bytes.
   * @throws BlobDamaged if the blob has no such bytes
   */
  stream(key: string, start: number, end: number, caller?: Caller): Promise<Readable | undefined>
  /** Opens a whole blob, whatever its size, for checks. Undefined if there is none. */
  openWhole(key: string): Promise<{ readonly size: number; readonly body: Readable } | undefined>
  /**
   * Runs `use` with a local file of the blob's content, valid only until it settles. Undefined if there is no such blob.
   * @throws BlobDamaged if it has another size than `size`
   */
  withLocalFile<T>(
    key: string,
    use: (path: string) => Promise<T>,
    caller?: Caller,
    size?: number,
  ): Promise<T | undefined>
  /** Removes a blob if there is one. */
  remove(key: string): Promise<void>
  /** Moves a blob, if there is one, to where only a person looks for it. */
  quarantine(key: string): Promise<void>
  /**
   * Returns the id of the store's owner: the one that was claimed first. Undefined if nobody claimed it.
   * @param claim an id that becomes the owner if there is none
   */
  owner(claim?: string): Promise<string | undefined>
  clearOwner(): Promise<void>
  /** Lists every key, in no order, with the time its blob was written in milliseconds since 1970. */
  keys(): AsyncIterable<{ readonly key: string; readonly writtenAt: number }>
  /** Rejects if the store is unusable. */
  ping(): Promise<void>
  /** Returns where clients can fetch a blob themselves, as `mime`, for stores with a public address. */
  readonly locate?: (key: string, mime: string) => Promise<BlobAddress>
}

export interface BlobAddress {
  readonly url: string
  /** How long the address may be cached. */
  readonly seconds: number
}

/** The store holds a blob in another size or with other content than was stored. */
export class BlobDamaged extends Error {}

/**
 * A name under which a store keeps a file: one path component without characters that a file system or an object store
 * interprets. Names come from databases and backups that others may have edited, so they are validated before use.
 */
export type BlobKey = string & { readonly __brand: 'BlobKey' }

/** The first two characters name a folder, so they cannot be `..`. 200 leaves room for suffixes of stores. */
const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/

export const isBlobKey = (text: string): text is BlobKey => KEY.test(text)

/** @throws if `text` is not a valid key */
export function blobKey(text: string): BlobKey {
  if (!isBlobKey(text)) throw new Error(`${JSON.stringify(text.slice(0, 100))} is not a valid blob key`)
  return text
}
