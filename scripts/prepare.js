/**
 * Runs after an installation in a checkout, with whatever Node the machine has: links the Node that comes along as a package, and
 * builds the console and clients/js with it. Plain JavaScript, because Node 20 runs no TypeScript.
 */
import { execSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

linkNode()
build()

/**
 * Puts the packaged Node into node_modules/.bin, so that `npm test` and `npx node` run on it. npm 11 does that itself. npm 10, which
 * Node 20 and 22 bring, removes the link together with the packages for other platforms, whose links have the same name.
 */
function linkNode() {
  const link = join('node_modules', '.bin', 'node')
  const names = ['node', 'node-bin'].map((prefix) => `${prefix}-${process.platform}-${process.arch}`)
  const name = names.find((candidate) => existsSync(join('node_modules', candidate, 'bin', 'node')))
  if (name === undefined) return
  // The headers for compiling addons are 67 of its 189 MB.
  rmSync(join('node_modules', name, 'include'), { recursive: true, force: true })
  if (existsSync(link)) return
  mkdirSync(join('node_modules', '.bin'), { recursive: true })
  symlinkSync(join('..', name, 'bin', 'node'), link)
}

/** Without the sources (a layer of the container image) or without Vite (`--omit=dev`) there is nothing to build. */
function build() {
  if (!existsSync(join('node_modules', 'vite'))) return
  for (const folder of ['clients', 'console'])
    if (existsSync(folder)) execSync(`node scripts/build-${folder}.ts`, { stdio: 'inherit' })
}
