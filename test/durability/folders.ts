import { readdir } from 'node:fs/promises'

/** What folders hold about themselves: whom they belong to, and what the last sweep found. */
const OWN = new Set(['owner', 'sweep.total'])

/** The names of all files in a folder and the folders in it, except its own metadata. */
export async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && !OWN.has(entry.name)).map(({ name }) => name)
}
