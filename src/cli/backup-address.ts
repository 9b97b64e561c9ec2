import { parseS3Location, S3_LOCATION_TAKES } from '../storage/blobs/s3/location.ts'
import type { BackupLocation } from '../operations/transfer/backup-store.ts'
import { usageFault } from './usage.ts'

/** The one address that `backup` and `restore` take; undefined, and told, where it is none. */
export function readBackupAddress(
  command: string,
  positionals: readonly string[],
): BackupLocation | undefined {
  const [text, ...more] = positionals
  if (text === undefined || text === '' || more.length > 0) {
    usageFault(`${command} takes one FOLDER or s3://…`)
    return undefined
  }
  if (!text.startsWith('s3:')) return { kind: 'folder', path: text }
  const location = parseS3Location(text)
  if (location === undefined) {
    usageFault(`${command} takes a FOLDER or ${S3_LOCATION_TAKES}`)
    return undefined
  }
  return { kind: 's3', location }
}
