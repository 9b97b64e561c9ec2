import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Table } from '../database/tables.ts'
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
  const sealed = await place.manifests.lend(ownFile(name), (path) => readFile(path, 'utf8'))
  if (sealed === undefined) return { kind: 'missing' }
  const seal = /^(.*),"sha256":"([0-9a-f]{64})"\}\n$/s.exec(sealed)
  const text = `${seal?.[1] ?? ''}}`
  if (seal === null || hash('sha256', text) !== seal[2]) return { kind: 'damaged' }
  const value: unknown = JSON.parse(text)
  if (hasFormat(value) && value.format !== 1) return { kind: 'newer' }
  return isManifest(value) ? { kind: 'read', manifest: value } : { kind: 'damaged' }
}

const hasFormat = (value: unknown): value is { format: unknown } =>
  typeof value === 'object' && value !== null && 'format' in value

/** The digest says that it is as it was written; this, that no name in it can become a statement of its own. */
function isManifest(value: unknown): value is Manifest {
  if (!hasFormat(value) || !('tables' in value) || !Array.isArray(value.tables)) return false
  if (!('schema' in value) || !Number.isSafeInteger(value.schema)) return false
  return value.tables.every((table: unknown) => {
    if (typeof table !== 'object' || table === null) return false
    if (!('name' in table && 'key' in table && 'columns' in table && 'files' in table)) return false
    const { name, key, columns, files } = table
    if (!Array.isArray(key) || !Array.isArray(files) || typeof columns !== 'object' || columns === null)
      return false
    const types: unknown[] = Object.values(columns)
    return (
      [name, ...key, ...Object.keys(columns)].every((one) => /^[a-z_]{1,60}$/.test(String(one))) &&
      types.every((type) => type === 'text' || type === 'integer')
    )
  })
}
