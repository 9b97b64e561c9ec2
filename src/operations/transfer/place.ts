import { lstat, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeFolder, undefinedIfMissing } from '../../lib/private-files.ts'
import { openBlobs } from '../../storage/blobs/open.ts'
import type { BackupLocation } from '../../storage/blobs/s3/location.ts'
import { Staging } from '../../storage/blobs/staging.ts'
import { reportFault, type InstanceLocation } from './instance.ts'

/**
 * A place of backups, made of three blob stores: the tables of each snapshot, its manifest, and the images, which all
 * snapshots share. A snapshot exists once its manifest does, which is written last.
 */
export type BackupPlace = Awaited<ReturnType<typeof openPlace>>

const PARTS = ['manifests', 'tables', 'images'] as const
const STAGING = 'staging'

/** @throws if there is no folder to restore from */
export async function assertBackupFolder(location: BackupLocation): Promise<void> {
  if (location.kind === 's3') return
  const found = await undefinedIfMissing(() => lstat(join(location.path, 'manifests')))
  if (found === undefined) throw new Error(`there are no backups in ${resolve(location.path)}`)
}

/** Backups may come from elsewhere: following a link in one would read, write or remove files outside of it. */
async function assertNoLinks(folder: string): Promise<void> {
  for (const part of [...PARTS, STAGING]) {
    const path = join(folder, part)
    const found = await undefinedIfMissing(() => lstat(path))
    if (found?.isDirectory() === false) throw new Error(`${path} is not a folder: links are not followed`)
  }
}

/** @param data the instance's folder, which holds temporary files of transfers to and from an object store */
export async function openPlace(location: BackupLocation, data: string) {
  const folder = location.kind === 'folder' ? resolve(location.path) : resolve(data)
  await makeFolder(folder)
  if (location.kind === 'folder') await assertNoLinks(folder)
  const staging = await Staging.open(join(folder, STAGING), { flush: location.kind === 'folder' })
  const open = async (part: (typeof PARTS)[number]) => {
    const s3 =
      location.kind === 'folder'
        ? undefined
        : { ...location.location, prefix: `${location.location.prefix}${part}/` }
    return openBlobs(s3, join(folder, part), staging, reportFault)
  }
  const [manifests, tables, images] = [await open('manifests'), await open('tables'), await open('images')]
  return {
    manifests: manifests.store,
    tables: tables.store,
    images: images.store,
    staging,
    [Symbol.dispose]() {
      for (const each of [manifests, tables, images]) each[Symbol.dispose]()
    },
  }
}

/** Whether backups at this location would mix with the instance's own files. */
export async function overlapsInstance(
  location: BackupLocation,
  instance: InstanceLocation,
): Promise<boolean> {
  if (location.kind === 'folder') {
    const [backups, data] = await Promise.all([real(location.path), real(instance.data)])
    return `${backups}/`.startsWith(`${data}/`) || `${data}/`.startsWith(`${backups}/`)
  }
  const { bucket, endpoint, prefix } = location.location
  const own = instance.blobsUrl
  if (own === undefined || own.bucket !== bucket || own.endpoint !== endpoint) return false
  return own.prefix === prefix || PARTS.some((part) => own.prefix === `${prefix}${part}/`)
}

const real = (path: string) => realpath(path).catch(() => resolve(path))
