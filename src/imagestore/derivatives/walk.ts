import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** One image's folder of derivatives, and the files in it. */
export interface BlobFolder {
  readonly blobKey: string
  readonly path: string
  readonly files: () => AsyncGenerator<DerivativeFile>
}

export interface DerivativeFile {
  readonly path: string
  readonly name: string
  /** As the disk counts it: in whole blocks. */
  readonly bytes: number
  /** When it was last used, to some minutes. Milliseconds since 1970. */
  readonly usedAt: number
}

const BLOCK_BYTES = 4_096
/** A folder takes room as well. */
export const FOLDER_BYTES = BLOCK_BYTES

export const onDisk = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES

/**
 * Everything under `root`, `<2 characters>/<blob key>/<file>`, one folder at a time, so that the memory it takes has
 * nothing to do with how much there is. What vanishes meanwhile is passed over.
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

async function* filesIn(folder: string, signal: AbortSignal): AsyncGenerator<DerivativeFile> {
  const opened = await opendir(folder).catch(() => undefined)
  if (opened === undefined) return
  for await (const { name } of opened) {
    if (signal.aborted) return
    const path = join(folder, name)
    const info = await stat(path).catch(() => undefined)
    if (info?.isFile() === true) yield { path, name, bytes: onDisk(info.size), usedAt: info.mtimeMs }
  }
}
