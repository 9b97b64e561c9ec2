import { hash } from 'node:crypto'
import { lstat, readFile, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isObject, parseJson } from '../../lib/json.ts'
import { makeFolder, undefinedIfMissing } from '../../lib/private-files.ts'
import { VERSION } from '../../lib/version.ts'
import { openBlobs } from '../../storage/blobs/open.ts'
import type { BackupLocation } from '../../storage/blobs/s3/location.ts'
import { Staging } from '../../storage/blobs/staging.ts'
import { isUnreleased, SCHEMA } from '../../storage/database/migrations/index.ts'
import { isCopied, getTables, type Table } from '../../storage/database/tables.ts'
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

/** One compressed file of a table's rows, ordered by key: a JSON array of column values per line. */
export interface TableFile {
  readonly name: string
  readonly rows: number
  /** Size of the compressed file. */
  readonly bytes: number
  /** SHA-256 of the compressed file, in hexadecimal. */
  readonly sha256: string
}

/** A table may have fewer columns than today if an older version wrote the snapshot. */
export interface TableBackup extends Table {
  readonly rows: number
  readonly files: readonly TableFile[]
}

/** The description of a snapshot. */
export interface Manifest {
  /** 1 in the snapshots of version 0.1, whose tables have a field more. */
  readonly format: 1 | 2
  readonly name: string
  /** When its view of the database was taken. ISO 8601. */
  readonly createdAt: string
  /** The version of the program that wrote it. */
  readonly program: string
  /** The schema version of its tables. */
  readonly schema: number
  /** The version that the database was about to be upgraded to, if that is why the snapshot was taken. */
  readonly upgradeTo?: number | undefined
  /** Identifies the instance: see `getOwner`. */
  readonly owner: string
  readonly tables: readonly TableBackup[]
  readonly images: { readonly count: number; readonly bytes: number }
}

const FORMAT = 2
const MANIFEST_SUFFIX = '.json'
/** A timestamp, so that names sort by time. */
const SNAPSHOT_NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z$/

const toName = (time: number): string => new Date(time).toISOString().replaceAll(/[-:.]/g, '')

/** Returns a name that sorts after that of the newest snapshot, which a clock that was ahead may have made. */
function nameAfter(newest: string | undefined, now: number): string {
  const parts =
    SNAPSHOT_NAME.exec(newest ?? '')
      ?.slice(1)
      .map(Number) ?? []
  const [year = 0, month = 1, ...rest] = parts
  return toName(Math.max(now, Date.UTC(year, month - 1, ...rest) + 1))
}

export interface NewManifest {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly owner: string
  /** The name of the newest snapshot in the same place. */
  readonly newest: string | undefined
  /** The version of the schema, if it is about to be upgraded. */
  readonly upgradeFrom: number | undefined
}

/** Describes a snapshot that is taken now. */
export function newManifest({
  now,
  owner,
  newest,
  upgradeFrom,
}: NewManifest): Omit<Manifest, 'tables' | 'images'> {
  return {
    format: FORMAT,
    name: nameAfter(newest, now),
    createdAt: new Date(now).toISOString(),
    program: VERSION,
    owner,
    schema: upgradeFrom ?? SCHEMA,
    upgradeTo: upgradeFrom && SCHEMA,
  }
}

/** Lists the names of all snapshots, oldest first. */
export async function snapshotsIn(place: BackupPlace): Promise<string[]> {
  const names: string[] = []
  for await (const { key } of place.manifests.keys()) {
    const name = key.slice(0, -MANIFEST_SUFFIX.length)
    if (key.endsWith(MANIFEST_SUFFIX) && SNAPSHOT_NAME.test(name)) names.push(name)
  }
  return names.toSorted()
}

export const manifestFile = (snapshot: string) => snapshot + MANIFEST_SUFFIX

export async function writeManifest(place: BackupPlace, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest)
  // The digest comes last and covers everything before it.
  const signed = `${text.slice(0, -1)},"sha256":"${hash('sha256', text)}"}\n`
  await using staged = await place.staging.write(Buffer.from(signed))
  await place.manifests.put(manifestFile(manifest.name), staged)
}

/** Reads the description of a snapshot, or returns in words why it cannot be used. */
export async function readManifest(place: BackupPlace, name: string): Promise<Manifest | string> {
  const signed = await place.manifests.withLocalFile(manifestFile(name), (path) => readFile(path, 'utf8'))
  if (signed === undefined) return 'its manifest is missing'
  const damaged = 'its manifest is damaged'
  const [, start, digest] = /^(.*),"sha256":"([0-9a-f]{64})"\}\n$/s.exec(signed) ?? []
  if (start === undefined || hash('sha256', `${start}}`) !== digest) return damaged
  const value = parseJson(`${start}}`)
  if (!isObject(value)) return damaged
  const { format, schema } = value
  if (!isCount(format) || !isCount(schema)) return damaged
  if (format > FORMAT) return `its format is ${format}, this version supports up to ${FORMAT}`
  if (schema > SCHEMA) return `its schema is ${schema}, this version supports up to ${SCHEMA}`
  if (isUnreleased(schema)) return `its schema is ${schema}, which no release has`
  return isManifest(value, schema) && value.name === name ? value : damaged
}

/**
 * Validates every number, and every name that becomes part of a statement or a path. The digest only proves that
 * the file is complete: anyone can compute one.
 */
function isManifest(value: object, schema: number): value is Manifest {
  if (!('tables' in value && 'owner' in value && 'images' in value) || !Array.isArray(value.tables))
    return false
  const { images, owner, tables } = value
  if (typeof owner !== 'string' || !isObject(images)) return false
  if (!isCount(images['count']) || !isCount(images['bytes'])) return false
  const known = getTables(schema).filter(isCopied)
  const names = tables.map((table: unknown) => (isObject(table) ? table['name'] : undefined))
  return new Set(names).size === names.length && tables.every((table) => isTableBackup(table, known))
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

function isTableBackup(table: unknown, known: readonly Table[]): boolean {
  if (!isObject(table)) return false
  const { columns, files, key, name, rows } = table
  const like = known.find((one) => one.name === name)
  if (like === undefined || !isObject(columns) || !Array.isArray(key) || !Array.isArray(files)) return false
  return (
    isCount(rows) &&
    key.join() === like.key.join() &&
    Object.entries(columns).every(
      ([column, type]) => Object.hasOwn(like.columns, column) && like.columns[column] === type,
    ) &&
    files.every((file: unknown) => isTableFile(file, like.name))
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
