import { randomBytes } from 'node:crypto'
import { opendir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileWith } from '../../lib/private-files.ts'

const BLOCK_BYTES = 4_096
/** A folder takes a block as well. */
export const FOLDER_BYTES = BLOCK_BYTES
/** Lock files and incomplete files older than this are abandoned. */
const MAX_LEFTOVER_AGE_MS = 10 * 60_000

/** Disk usage of a file, in whole blocks. */
export const diskBytes = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES

/** The derivatives of one image. */
interface BlobFolder {
  readonly blobKey: string
  readonly path: string
  readonly files: () => AsyncGenerator<DerivativeFile>
}

interface DerivativeFile {
  readonly path: string
  readonly name: string
  /** Disk usage. */
  readonly bytes: number
  /** When it was last used, to within minutes. Milliseconds since 1970. */
  readonly usedAt: number
}

/**
 * Walks through `root`, `<2 characters>/<blob key>/<file>`, folder by folder, in memory that does not depend on their
 * number. Skips what disappears in the meantime.
 */
export async function* walk(root: string, signal: AbortSignal): AsyncGenerator<BlobFolder> {
  for await (const group of foldersIn(root)) {
    for await (const blobKey of foldersIn(join(root, group))) {
      if (signal.aborted) return
      const path = join(root, group, blobKey)
      yield { blobKey, path, files: () => filesIn(path, signal) }
    }
  }
}

async function* foldersIn(path: string): AsyncGenerator<string> {
  const folder = await opendir(path).catch(() => undefined)
  if (folder === undefined) return
  for await (const entry of folder) if (entry.isDirectory()) yield entry.name
}

async function* filesIn(path: string, signal: AbortSignal): AsyncGenerator<DerivativeFile> {
  const folder = await opendir(path).catch(() => undefined)
  if (folder === undefined) return
  for await (const { name } of folder) {
    if (signal.aborted) return
    const file = join(path, name)
    const info = await stat(file).catch(() => undefined)
    if (info?.isFile() === true) yield { path: file, name, bytes: diskBytes(info.size), usedAt: info.mtimeMs }
  }
}

/** Ages within a class, whose files are evicted in any order, differ by 0.3 % at most. */
const CLASSES_PER_DOUBLING = 256
/** The last one begins after 68 years. */
const AGE_CLASSES = 31 * CLASSES_PER_DOUBLING

/** Increases with age. Times in the future count as now. */
const ageClass = (ageMs: number): number =>
  Math.min(AGE_CLASSES - 1, Math.floor(Math.log2(1 + Math.max(0, ageMs) / 1_000) * CLASSES_PER_DOUBLING))

export interface Evicted {
  /** Disk usage afterwards. */
  readonly bytes: number
  readonly removed: number
}

/**
 * Reduces disk usage below `root` to `limit` bytes, least recently used files first. Walks twice, counting by age and then
 * removing, instead of keeping a list: memory is about 64 KB for any number of files. Several processes may do this at the
 * same time.
 */
export async function evict(root: string, limit: number, now: number, signal: AbortSignal): Promise<Evicted> {
  const bytesByAge = new Float64Array(AGE_CLASSES)
  let total = 0
  let removed = 0
  for await (const folder of walk(root, signal)) {
    let files = 0
    for await (const { path, name, bytes, usedAt } of folder.files()) {
      files++
      if (name.includes('.') && now - usedAt > MAX_LEFTOVER_AGE_MS) {
        await rm(path, { force: true }).catch(() => {})
        continue
      }
      const age = ageClass(now - usedAt)
      bytesByAge[age] = (bytesByAge[age] ?? 0) + bytes
      total += bytes
    }
    // Fails, as it should, if a file was added in the meantime.
    if (files === 0) await rmdir(folder.path).catch(() => {})
    else total += FOLDER_BYTES
  }
  if (total <= limit || signal.aborted) return { bytes: total, removed }

  const excess = total - limit
  let older = 0
  let cut = AGE_CLASSES - 1
  while (cut > 0 && older + (bytesByAge[cut] ?? 0) < excess) older += bytesByAge[cut--] ?? 0
  // Of the youngest class that is affected, only as much as necessary.
  let rest = excess - older
  for await (const folder of walk(root, signal)) {
    for await (const { path, bytes, usedAt } of folder.files()) {
      const age = ageClass(now - usedAt)
      if (age < cut || (age === cut && rest <= 0)) continue
      if (!(await succeeds(rm(path)))) continue
      removed++
      total -= bytes
      if (age === cut) rest -= bytes
    }
    if (await succeeds(rmdir(folder.path))) total -= FOLDER_BYTES
  }
  return { bytes: total, removed }
}

const succeeds = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

/** What a sweep found, with its time. */
export interface SweptTotal {
  readonly bytes: number
  readonly sweptAt: number
}

/** Saves what a sweep found for all processes, because counting again would take minutes where there is much. */
export const writeTotal = (path: string, { bytes, sweptAt }: SweptTotal): Promise<void> =>
  replaceFile(path, JSON.stringify([bytes, sweptAt]))

/** Writes a file under its name when all of it is written. Does not flush it. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await createFileWith(temporary, content)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

/** Reads zeros before the first sweep, or if a power cut damaged the file: the next sweep writes it again. */
export async function readTotal(path: string): Promise<SweptTotal> {
  try {
    const found: unknown = JSON.parse(await readFile(path, 'utf8'))
    const [bytes, sweptAt]: readonly unknown[] = Array.isArray(found) ? found : []
    return { bytes: Number(bytes ?? 0), sweptAt: Number(sweptAt ?? 0) }
  } catch {
    return { bytes: 0, sweptAt: 0 }
  }
}
