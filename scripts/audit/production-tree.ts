import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package that an installation without development dependencies may contain, on any platform. */
export interface ProductionPackage {
  readonly name: string
  /** Where it is installed, from the project's root: `node_modules/ajv/node_modules/fast-uri`. */
  readonly path: string
  readonly locked: Facts
  readonly hasIntegrity: boolean
  /** What the installed copy says, or undefined where it is not installed: most are for other platforms. */
  readonly installed: Facts | undefined
}

export interface Facts {
  readonly version: string
  readonly license: string | undefined
  readonly hasInstallScript: boolean
}

interface LockEntry {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
}

interface Manifest {
  readonly version?: string
  readonly license?: string
  readonly gypfile?: boolean
  readonly scripts?: Readonly<Record<string, string>>
}

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall']

/** Reads package-lock.json and node_modules; asks no registry. */
export function readProductionTree(root: string): ProductionPackage[] {
  const lock: { packages: Readonly<Record<string, LockEntry>> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version = '', license, integrity, hasInstallScript = false }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      path,
      locked: { version, license, hasInstallScript },
      hasIntegrity: integrity !== undefined,
      installed: readInstalled(join(root, path)),
    }))
}

function readInstalled(folder: string): Facts | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return undefined
  const { version = '', license, gypfile, scripts = {} }: Manifest = JSON.parse(readFileSync(file, 'utf8'))
  // npm compiles a package that has a binding.gyp even if it names no script.
  const isCompiled = gypfile !== false && existsSync(join(folder, 'binding.gyp'))
  const hasInstallScript = isCompiled || INSTALL_SCRIPTS.some((name) => scripts[name] !== undefined)
  return { version, license, hasInstallScript }
}
