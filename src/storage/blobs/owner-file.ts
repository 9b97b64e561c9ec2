import { randomBytes } from 'node:crypto'
import { link, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile } from '../../lib/private-files.ts'
import { orUndefined } from './absent.ts'
import { syncFolder } from './durable.ts'

const NAME = 'owner'

/** Whom a folder of blobs belongs to, kept in a file in it. See `BlobStore.owner`. */
export async function ownerFile(folder: string, claim: string | undefined): Promise<string | undefined> {
  const path = join(folder, NAME)
  const owner = await read(path)
  if (owner !== undefined || claim === undefined) return owner
  const written = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await createFile(written)
    try {
      await handle.writeFile(`${claim}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // A name for the whole file, or none: of several who claim at once one comes first, and a crash leaves no half.
    await link(written, path).catch((error: unknown) => {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    })
    await syncFolder(folder)
  } finally {
    await rm(written, { force: true })
  }
  return read(path)
}

export async function removeOwnerFile(folder: string): Promise<void> {
  await rm(join(folder, NAME), { force: true })
  await syncFolder(folder)
}

async function read(path: string): Promise<string | undefined> {
  return (await orUndefined(() => readFile(path, 'utf8')))?.trim()
}
