/**
 * Links the Node that comes along as a package into node_modules/.bin, so that `npm test` and `npx node` run on it. npm 11 does
 * that itself. npm 10, which Node 20 and 22 bring, removes the link together with the packages for other platforms, whose
 * links have the same name. npm runs this after an installation in a checkout, with whatever Node the machine has.
 */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

const link = join('node_modules', '.bin', 'node')
const names = ['node', 'node-bin'].map((prefix) => `${prefix}-${process.platform}-${process.arch}`)
const name = names.find((one) => existsSync(join('node_modules', one, 'bin', 'node')))

if (name !== undefined && !existsSync(link)) {
  mkdirSync(join('node_modules', '.bin'), { recursive: true })
  symlinkSync(join('..', name, 'bin', 'node'), link)
}
