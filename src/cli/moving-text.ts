import { isBlobKey } from '../storage/blobs/blob-store.ts'
import type { CopyResult } from '../operations/transfer/copy-images.ts'

export function imagesText({ copied, copiedBytes, present }: CopyResult): string {
  return `${copied} images copied (${(copiedBytes / 1e6).toFixed(1)} MB), ${present} there before`
}

/** Each image that could not be copied, as far as they are listed. */
export function faultLines({ faults, faultCount }: Pick<CopyResult, 'faults' | 'faultCount'>): string[] {
  const lines = faults.map(({ key, kind }) => `image ${shown(key)}: ${kind}`)
  if (faultCount > faults.length) lines.push(`and ${faultCount - faults.length} more`)
  return lines
}

/** A key that a database holds may be any text, and a terminal acts upon some. */
const shown = (key: string): string => (isBlobKey(key) ? key : JSON.stringify(key))
