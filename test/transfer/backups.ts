import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalejoHere } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

export async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

export const nameOf = (path: string) => path.split('/').at(-1) ?? ''

export async function flip(path: string): Promise<void> {
  const bytes = await readFile(path)
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
}

export async function succeeds(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await catalejoHere(args)
  assert.equal(code, 0, stderr)
  return stdout
}

export async function folders(): Promise<[string, string, string] & AsyncDisposable> {
  const made = await Promise.all([temporaryFolder(), temporaryFolder(), temporaryFolder()])
  const paths: [string, string, string] = [made[0].path, made[1].path, made[2].path]
  return Object.assign(paths, {
    async [Symbol.asyncDispose]() {
      await Promise.all(made.map((each) => each[Symbol.asyncDispose]()))
    },
  })
}
