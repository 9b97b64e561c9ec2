import { access, constants, statfs } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { isOpenToOthers } from '../../lib/private-files.ts'
import { asError, isErrorCode } from '../../lib/errors.ts'
import type { Config } from '../config/config.ts'
import { fail, ok, problemsOr, warn, type Check, type Result } from './finding.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
/** Below it, uploads and the log of the database soon fail. */
const FULL_BYTES = 256 * MIB
/** Below it, a backup or a large import may not fit. */
const SCARCE_BYTES = 2 * GIB
/** What a process takes besides images: its code, the list index of a million names, caches of the database. */
const PROCESS_BYTES = 512 * MIB

/** The data folder, its disk, and the memory of this machine. */
export function machineChecks(config: Config): readonly Check[] {
  return [
    { name: 'data folder', run: () => checkFolder(config) },
    { name: 'disk', run: () => checkDisks(config) },
    { name: 'memory', run: async () => [checkMemory(config)] },
  ]
}

async function checkFolder({ data }: Config): Promise<readonly Result[]> {
  const folder = resolve(data)
  if (!existsSync(folder))
    return [
      fail(
        `there is no folder ${folder}`,
        'name it with --data; catalejo serve creates it at its first start',
      ),
    ]
  const problems: Result[] = []
  for (const path of [folder, join(folder, 'catalejo.db'), join(folder, 'blobs')]) {
    if (!existsSync(path)) continue
    const fault = await access(path, constants.R_OK | constants.W_OK).then(() => undefined, asError)
    if (fault !== undefined)
      problems.push(
        isErrorCode(fault, 'EROFS')
          ? fail(`${path} is on a read-only file system: nothing can be stored`, 'mount it for writing')
          : fail(`${path} cannot be written by the user of this command`, `chown it to the service's user`),
      )
    if (isOpenToOthers(path))
      problems.push(
        warn(
          `other users of this machine can read ${path}, which holds keys' digests and uploads`,
          `chmod -R go= ${folder}`,
        ),
      )
  }
  return problemsOr(problems, `${folder} is writable, and private`)
}

async function checkDisks({ backupTo, data }: Config): Promise<readonly Result[]> {
  const folders = [resolve(data), ...(backupTo?.kind === 'folder' ? [resolve(backupTo.path)] : [])]
  const results: Result[] = []
  for (const folder of folders.filter((path) => existsSync(path))) {
    const { bavail, blocks, bsize } = await statfs(folder)
    const [free, total] = [bavail * bsize, blocks * bsize]
    const room = `${sizeText(free)} of ${sizeText(total)} free for ${folder}`
    if (free < FULL_BYTES)
      results.push(
        fail(`${room}: writes fail when it is full`, 'free space, or move the folder to a larger disk'),
      )
    else if (free < SCARCE_BYTES)
      results.push(
        warn(`${room}: backups and imports may not fit`, 'free space, or lower --derivative-cache'),
      )
    else results.push(ok(room))
  }
  return results
}

function checkMemory({ imageMemoryBytes, memoryCacheBytes, workers }: Config): Result {
  const limit = process.constrainedMemory()
  // Without a limit of the container it is 0, or beyond what the machine has.
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const needed = imageMemoryBytes + memoryCacheBytes + workers * PROCESS_BYTES
  const text = `${sizeText(available)} for up to ${sizeText(needed)} at the settings, ${availableParallelism()} cores`
  return needed > available
    ? warn(`${text}: the system may end the service`, 'lower --image-memory, --memory-cache or --workers')
    : ok(text)
}

/** A size for people, such as `1.5 GiB`. */
function sizeText(bytes: number): string {
  const [unit, name] = bytes >= GIB ? [GIB, 'GiB'] : [MIB, 'MiB']
  return `${(bytes / unit).toFixed(1)} ${name}`
}
