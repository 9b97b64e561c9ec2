import { lstat, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeFolder, undefinedIfMissing } from '../../storage/blobs/durable.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { openBlobs } from '../../storage/blobs/open.ts'
import type { S3Location } from '../../storage/blobs/s3/location.ts'
import { Staging } from '../../storage/blobs/staging.ts'
import { reportFault, type Place } from './instance.ts'

/** Where backups are: a folder, or a part of an object store. */
export type BackupAddress =
  { readonly kind: 'folder'; readonly path: string } | { readonly kind: 's3'; readonly location: S3Location }

/**
 * A place for backups. Three stores of immutable files, for what is durable and atomic there is so here: a snapshot's tables,
 * its manifest, which is written last and makes it exist, and images, which all snapshots share.
 */
export interface BackupPlace {
  readonly manifests: BlobStore
  readonly tables: BlobStore
  readonly images: BlobStore
  readonly staging: Staging
  close(): void
}

const PARTS = ['manifests', 'tables', 'images'] as const
const STAGING = 'staging'

/** @throws if there is no folder to restore from: none is made */
export async function assertBackupFolder(address: BackupAddress): Promise<void> {
  if (address.kind === 's3') return
  const found = await undefinedIfMissing(() => lstat(join(address.path, 'manifests')))
  if (found === undefined) throw new Error(`there are no backups in ${resolve(address.path)}`)
}

/** Backups come from elsewhere: a link in one would make us read, write and remove files outside of it. */
async function assertNoLinks(folder: string): Promise<void> {
  for (const part of [...PARTS, STAGING]) {
    const path = join(folder, part)
    const found = await undefinedIfMissing(() => lstat(path))
    if (found?.isDirectory() === false) throw new Error(`${path} is not a folder: links are not followed`)
  }
}

/** @param data the instance's folder, where what goes to or comes from an object store waits */
export async function openBackupPlace(address: BackupAddress, data: string): Promise<BackupPlace> {
  const folder = address.kind === 'folder' ? resolve(address.path) : resolve(data)
  await makeFolder(folder)
  if (address.kind === 'folder') await assertNoLinks(folder)
  const staging = await Staging.open(join(folder, STAGING), { flush: address.kind === 'folder' })
  const open = async (part: (typeof PARTS)[number]) => {
    const location =
      address.kind === 'folder'
        ? undefined
        : { ...address.location, prefix: `${address.location.prefix}${part}/` }
    return openBlobs(location, join(folder, part), staging, reportFault)
  }
  const [manifests, tables, images] = [await open('manifests'), await open('tables'), await open('images')]
  return {
    manifests: manifests.store,
    tables: tables.store,
    images: images.store,
    staging,
    close() {
      for (const each of [manifests, tables, images]) each.close()
    },
  }
}

/** Whether backups there would get between, or away with, what the instance itself stands on. */
export async function isWithin(address: BackupAddress, place: Place): Promise<boolean> {
  if (address.kind === 'folder') {
    const [backups, data] = await Promise.all([real(address.path), real(place.data)])
    return `${backups}/`.startsWith(`${data}/`) || `${data}/`.startsWith(`${backups}/`)
  }
  const { bucket, endpoint, prefix } = address.location
  const own = place.blobsUrl
  if (own === undefined || own.bucket !== bucket || own.endpoint !== endpoint) return false
  return own.prefix === prefix || PARTS.some((part) => own.prefix === `${prefix}${part}/`)
}

const real = (path: string) => realpath(path).catch(() => resolve(path))
