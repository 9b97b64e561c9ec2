import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Folders with a package.json of their own: what few need, or only some tests start, is not installed by `npm ci`. */
export type PackageFolder = 'scripts/generate' | 'scripts/site' | 'test/generated-clients' | 'test/servers'

const toPath = (folder: PackageFolder, file: string) =>
  fileURLToPath(new URL(`../${folder}/${file}`, import.meta.url))

const digestOf = (folder: PackageFolder) =>
  createHash('sha256')
    .update(readFileSync(toPath(folder, 'package-lock.json')))
    .digest('hex')

/** Whether the packages of a folder are installed as its lock file says. */
export function isInstalled(folder: PackageFolder): boolean {
  try {
    return readFileSync(toPath(folder, 'node_modules/.installed'), 'utf8') === digestOf(folder)
  } catch {
    return false
  }
}

/** Installs the packages of a folder unless they are. */
export function installPackages(folder: PackageFolder): void {
  if (isInstalled(folder)) return
  console.log(`Installing the packages of ${folder}`)
  const options = { cwd: toPath(folder, ''), stdio: 'inherit', shell: process.platform === 'win32' } as const
  execFileSync('npm', ['ci', '--silent'], options)
  writeFileSync(toPath(folder, 'node_modules/.installed'), digestOf(folder))
}
