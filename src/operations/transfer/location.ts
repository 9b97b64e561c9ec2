import { parseS3Location, type S3Location } from '../../storage/blobs/s3/location.ts'

/** Where backups are: a folder, or a prefix of an object store. */
export type BackupLocation =
  { readonly kind: 'folder'; readonly path: string } | { readonly kind: 's3'; readonly location: S3Location }

/** Reads the address of a place. Undefined if it is an invalid address of an object store. */
export function parsePlace(text: string): BackupLocation | undefined {
  if (!text.startsWith('s3:')) return { kind: 'folder', path: text }
  const location = parseS3Location(text)
  return location && { kind: 's3', location }
}
