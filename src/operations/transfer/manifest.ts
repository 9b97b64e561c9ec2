import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { copiedTables, type Table } from '../../storage/database/tables.ts'
import type { BackupPlace } from './backup-place.ts'

/** One file of a table's rows, compressed: a JSON array of its columns' values a line, by key. */
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

/** What a snapshot consists of. */
export interface Manifest {
  readonly format: 1
  readonly name: string
  /** ISO 8601, when its view was taken. */
  readonly createdAt: string
  /** The version of the program that wrote it. */
  readonly program: string
  /** The version of the schema that its tables are of. */
  readonly schema: number
  /** Tells whose it is. */
  readonly owner: string
  readonly tables: readonly TableBackup[]
  readonly images: { readonly count: number; readonly bytes: number }
}

const SUFFIX = '.json'
/** By time, and one after the other by name. */
const NAME = /^\d{8}T\d{9}Z$/

export const snapshotName = (now: number) => new Date(now).toISOString().replaceAll(/[-:.]/g, '')

/** The names of the snapshots of a place, oldest first. */
export async function snapshotsIn(place: BackupPlace): Promise<string[]> {
  const names: string[] = []
  for await (const { key } of place.manifests.keys()) {
    const name = key.slice(0, -SUFFIX.length)
    if (key.endsWith(SUFFIX) && NAME.test(name)) names.push(name)
  }
  return names.toSorted()
}

export const ownFile = (name: string) => name + SUFFIX

export async function writeManifest(place: BackupPlace, manifest: Manifest): Promise<void> {
  const text = JSON.stringify(manifest)
  // Its own digest comes last, so what it is of is all before it.
  const sealed = `${text.slice(0, -1)},"sha256":"${hash('sha256', text)}"}\n`
  const staged = await place.staging.write(Buffer.from(sealed))
  try {
    await place.manifests.put(ownFile(manifest.name), staged)
  } finally {
    await staged.discard()
  }
}

export type ManifestOutcome =
  | { readonly kind: 'read'; readonly manifest: Manifest }
  | { readonly kind: 'missing' | 'damaged' }
  /** A later version of the program wrote it in another form. */
  | { readonly kind: 'newer' }

export async function readManifest(place: BackupPlace, name: string): Promise<ManifestOutcome> {
  const sealed = await place.manifests.withLocalFile(ownFile(name), (path) => readFile(path, 'utf8'))
  if (sealed === undefined) return { kind: 'missing' }
  const seal = /^(.*),"sha256":"([0-9a-f]{64})"\}\n$/s.exec(sealed)
  const text = `${seal?.[1] ?? ''}}`
  if (seal === null || hash('sha256', text) !== seal[2]) return { kind: 'damaged' }
  const value: unknown = JSON.parse(text)
  if (hasFormat(value) && value.format !== 1) return { kind: 'newer' }
  return isManifest(value) && value.name === name ? { kind: 'read', manifest: value } : { kind: 'damaged' }
}

const hasFormat = (value: unknown): value is { format: unknown } =>
  typeof value === 'object' && value !== null && 'format' in value

/**
 * The digest says that it is whole, but anybody can make one: every name in it that becomes part of a statement or of a path
 * is checked, and every number.
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

/** One of the tables that backups hold. An older version's may have fewer columns than today's. */
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
    NAME.test(snapshot) && of === table && isCount(rows) && isCount(bytes) && /^[0-9a-f]{64}$/.test(sha256)
  )
}
