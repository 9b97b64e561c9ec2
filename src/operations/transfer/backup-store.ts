import { hash } from 'node:crypto'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isObject } from '../../lib/json.ts'
import { makeFolder, undefinedIfMissing } from '../../lib/private-files.ts'
import { openBlobs } from '../../storage/blobs/open.ts'
import type { S3Location } from '../../storage/blobs/s3/location.ts'
import { Staging } from '../../storage/blobs/staging.ts'
import { copiedTables, type Table } from '../../storage/database/tables.ts'
import { reportFault, type InstanceLocation } from './instance.ts'

/** Where backups are: a folder, or a prefix of an object store. */
export type BackupLocation =
  { readonly kind: 'folder'; readonly path: string } | { readonly kind: 's3'; readonly location: S3Location }

/**
 * A store of snapshots, made of three blob stores: the tables of each snapshot, its manifest, and the images, which all snapshots
 * share. A snapshot exists once its manifest does, which is written last.
 */
export type BackupStore = Awaited<ReturnType<typeof openBackupStore>>

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
export async function openBackupStore(location: BackupLocation, data: string) {
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

/** One compressed file of a table's rows, ordered by key: a JSON array of column values per line. */
export interface TableFile {
  readonly name: string
  readonly rows: number
  /** Of the compressed file. */
  readonly bytes: number
  /** Of the compressed file, in hexadecimal. */
  readonly sha256: string
}

export interface TableBackup extends Table {
  readonly rows: number
  readonly files: readonly TableFile[]
}

/** The description of a snapshot. */
export interface Manifest {
  readonly format: 1
  readonly name: string
  /** When its view of the database was taken. ISO 8601. */
  readonly createdAt: string
  /** The version of the program that wrote it. */
  readonly program: string
  /** The schema version of its tables. */
  readonly schema: number
  /** Identifies the instance: see `ownerOf`. */
  readonly owner: string
  readonly tables: readonly TableBackup[]
  readonly images: { readonly count: number; readonly bytes: number }
}

const MANIFEST_SUFFIX = '.json'
/** A timestamp, so that names sort by time. */
const SNAPSHOT_NAME = /^\d{8}T\d{9}Z$/

export const snapshotName = (now: number) => new Date(now).toISOString().replaceAll(/[-:.]/g, '')

/** Lists the names of all snapshots, oldest first. */
export async function snapshotsIn(store: BackupStore): Promise<string[]> {
  const names: string[] = []
  for await (const { key } of store.manifests.keys()) {
    const name = key.slice(0, -MANIFEST_SUFFIX.length)
    if (key.endsWith(MANIFEST_SUFFIX) && SNAPSHOT_NAME.test(name)) names.push(name)
  }
  return names.toSorted()
}

export const manifestFile = (snapshot: string) => snapshot + MANIFEST_SUFFIX

export async function writeManifest(store: BackupStore, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest)
  // The digest comes last and covers everything before it.
  const signed = `${text.slice(0, -1)},"sha256":"${hash('sha256', text)}"}\n`
  await using staged = await store.staging.write(Buffer.from(signed))
  await store.manifests.put(manifestFile(manifest.name), staged)
}

export type ManifestOutcome =
  | { readonly kind: 'read'; readonly manifest: Manifest }
  | { readonly kind: 'missing' | 'damaged' }
  /** Written by a later version of the program, in another format. */
  | { readonly kind: 'newer' }

export async function readManifest(store: BackupStore, name: string): Promise<ManifestOutcome> {
  const signed = await store.manifests.withLocalFile(manifestFile(name), (path) => readFile(path, 'utf8'))
  if (signed === undefined) return { kind: 'missing' }
  const parts = /^(.*),"sha256":"([0-9a-f]{64})"\}\n$/s.exec(signed)
  const text = `${parts?.[1] ?? ''}}`
  if (parts === null || hash('sha256', text) !== parts[2]) return { kind: 'damaged' }
  const value: unknown = JSON.parse(text)
  if (hasFormat(value) && value.format !== 1) return { kind: 'newer' }
  return isManifest(value) && value.name === name ? { kind: 'read', manifest: value } : { kind: 'damaged' }
}

const hasFormat = (value: unknown): value is { format: unknown } =>
  typeof value === 'object' && value !== null && 'format' in value

/**
 * Validates every number, and every name that becomes part of a statement or a path. The digest only proves that
 * the file is complete: anyone can compute one.
 */
function isManifest(value: unknown): value is Manifest {
  if (!hasFormat(value) || !('tables' in value) || !Array.isArray(value.tables)) return false
  if (!('schema' in value && 'owner' in value && 'images' in value)) return false
  const { images, owner, schema, tables } = value
  if (!isCount(schema) || typeof owner !== 'string') return false
  if (!isObject(images) || !isCount(images['count']) || !isCount(images['bytes'])) return false
  const names = tables.map((table: unknown) => (isObject(table) ? table['name'] : undefined))
  return new Set(names).size === names.length && tables.every(isTableBackup)
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** A table of an older version may have fewer columns than today. */
function isTableBackup(table: unknown): boolean {
  if (!isObject(table)) return false
  const { columns, files, identity, key, name, rows } = table
  const known = copiedTables.find((one) => one.name === name)
  if (known === undefined || !isObject(columns) || !Array.isArray(key) || !Array.isArray(files)) return false
  const types: Readonly<Record<string, string>> = known.columns
  return (
    isCount(rows) &&
    identity === known.identity &&
    key.join() === known.key.join() &&
    Object.keys(columns).slice(0, key.length).join() === key.join() &&
    Object.entries(columns).every(
      ([column, type]) => Object.hasOwn(types, column) && types[column] === type,
    ) &&
    files.every((file: unknown) => isTableFile(file, known.name))
  )
}

function isTableFile(file: unknown, table: string): boolean {
  if (!isObject(file)) return false
  const { bytes, name, rows, sha256 } = file
  if (typeof name !== 'string' || typeof sha256 !== 'string') return false
  const [, snapshot = '', of] = /^([^-]+)-([a-z_]+)-\d{1,6}\.ndjson\.gz$/.exec(name) ?? []
  return (
    SNAPSHOT_NAME.test(snapshot) &&
    of === table &&
    isCount(rows) &&
    isCount(bytes) &&
    /^[0-9a-f]{64}$/.test(sha256)
  )
}
