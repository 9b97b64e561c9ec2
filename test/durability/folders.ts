import { readdir } from 'node:fs/promises'

/** The names of all files in a folder and the folders in it, but the one that says whom the folder belongs to. */
export async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && entry.name !== 'owner').map(({ name }) => name)
}
