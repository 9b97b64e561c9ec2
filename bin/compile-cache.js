// Finds a folder for Node's cache of compiled code. What is in it is run as code, so nobody else may be able to write there,
// or to put another folder in its place.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000

/** @returns {string | undefined} a folder of our own, made where it is missing; undefined where none can be trusted */
export function compileCacheFolder() {
  try {
    const { CACHE_DIRECTORY, LOCALAPPDATA, XDG_CACHE_HOME } = process.env
    // systemd may name several.
    const [managed] = (CACHE_DIRECTORY ?? '').split(':')
    const base = managed || XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), '.cache')
    mkdirSync(base, { recursive: true, mode: 0o700 })
    const folder = join(realpathSync(base), 'catalejo')
    if (!isTrusted(dirname(folder))) return undefined
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return isPrivate(folder) ? folder : undefined
  } catch {
    return undefined
  }
}

/** @param {string} path a folder, and not a link to one */
function isPrivate(path) {
  const info = lstatSync(path)
  // Windows keeps others out of a user's folders by access lists.
  if (process.getuid === undefined) return info.isDirectory()
  return info.isDirectory() && info.uid === process.getuid() && (info.mode & 0o077) === 0
}

/**
 * Whether nobody but us and root can replace what is in a folder, or one of the folders above it.
 * @param {string} path without links
 */
function isTrusted(path) {
  if (process.getuid === undefined) return true
  const { mode, uid } = lstatSync(path)
  if (uid !== 0 && uid !== process.getuid()) return false
  // In a sticky folder others can add names, but cannot take ours away.
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0) return false
  const parent = dirname(path)
  return parent === path || isTrusted(parent)
}
