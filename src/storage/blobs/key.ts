/**
 * A name under which a store keeps a file: one component of a path, with nothing in it that a file system or an object store
 * reads in another way. Names come from databases and backups that others may have edited, so each is parsed before it
 * becomes a path.
 */
export type BlobKey = string & { readonly __brand: 'BlobKey' }

/** The first two characters name a folder: `..` is none. 200 leave room for what stores add. */
const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/

export const isBlobKey = (text: string): text is BlobKey => KEY.test(text)

/** @throws for what is no key */
export function blobKey(text: string): BlobKey {
  if (!isBlobKey(text)) throw new Error(`${JSON.stringify(text.slice(0, 100))} is not a valid blob key`)
  return text
}
