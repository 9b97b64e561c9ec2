/**
 * Packs a release, installs it in an empty folder elsewhere and uses it there as anybody would, with the machine's
 * own Node in front. Exits 1 at the first thing that is not as it should be. `--out FOLDER` keeps the package that worked.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { createProgram } from '../src/cli/program.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const START_MS = 30_000
const STOP_MS = 10_000
const { values: flags } = parseArgs({ options: { out: { type: 'string' } } })

// Without what npm puts in front of the path for the scripts of this project.
const environment = {
  ...process.env,
  PATH: (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
}

const work = await mkdtemp(join(tmpdir(), 'catalejo-pack-'))
try {
  const tarball = await pack()
  const command = await install(tarball)
  const run = (...args: string[]) => execFileSync(command, args, options()).trim()
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  assert.equal(run('--version'), version)
  getHelp(run)
  await mkdir(join(work, 'data'))
  const key = run('key', 'create', '--account', 'grupo', '--service', 'domainwatch')
  const imageKey = run('key', 'create', '--account', 'fotos', '--service', 'imagestore')
  assert.match(run('key', 'list'), /domainwatch\tgrupo/)
  step('--version and the key commands')
  await useService(command, key, imageKey)
  if (flags.out !== undefined) await copyFile(tarball, join(flags.out, basename(tarball)))
  console.log('The packed release works')
} finally {
  await rm(work, { recursive: true, force: true })
}

/** Each command of these sources is in the package too, with its help. */
function getHelp(run: (...args: string[]) => string): void {
  for (const { path } of createProgram().leaves()) {
    const usage = `Usage: catalejo ${path.join(' ')} `
    assert.ok(`${run(...path, '--help')} `.startsWith(usage), usage)
  }
  step('help of every command')
}

function options() {
  return { cwd: work, env: environment, encoding: 'utf8' as const, shell: process.platform === 'win32' }
}

function step(name: string): void {
  console.log(`ok ${name}`)
}

async function pack(): Promise<string> {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', work], {
    ...options(),
    cwd: root,
    stdio: 'inherit',
  })
  const [tarball = ''] = (await readdir(work)).filter((name) => name.endsWith('.tgz'))
  return join(work, tarball)
}

async function install(tarball: string): Promise<string> {
  const target = join(work, 'somewhere')
  await mkdir(target)
  await writeFile(join(target, 'package.json'), '{ "private": true }\n')
  const install = ['install', '--no-audit', '--no-fund', tarball]
  execFileSync('npm', install, { ...options(), cwd: target, stdio: 'inherit' })
  const files = await readdir(join(target, 'node_modules/catalejo'))
  for (const name of ['dist', 'assets', 'clients', 'openapi.json', 'README.md', 'LICENSE']) {
    assert.ok(files.includes(name), `${name} is not in the package: ${files.join(', ')}`)
  }
  assert.ok(!files.includes('src'), 'the sources are in the package')
  const client = pathToFileURL(join(target, 'node_modules/catalejo/clients/js/dist/index.js'))
  const { url } = await import(client.href)
  assert.equal(
    url('https://example.cl', '@tienda/portada', { w: 90 }),
    'https://example.cl/i/@tienda/portada&m=w_90',
  )
  step('packed and installed, with its client')
  return join(target, 'node_modules/.bin/catalejo')
}

async function useService(command: string, key: string, imageKey: string): Promise<void> {
  const service = spawn(command, ['serve', '--port', '0', '--data', join(work, 'data')], {
    ...options(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(service, 'exit')
  try {
    const url = await getAddress(createInterface(service.stdout))
    await useDomainwatch(url, key)
    await useImagestore(url, imageKey)
    await useConsole(url)
    service.kill('SIGTERM')
    const [code] = await within(STOP_MS, ended)
    assert.equal(code, 0)
    step('stopped by SIGTERM')
  } finally {
    service.kill('SIGKILL')
  }
}

async function useDomainwatch(url: string, key: string): Promise<void> {
  const record = { domain: 'ñandú', length: 5, reserve: 0, status: 1, date_reg: '2025-12-31 14:30:34' }
  const body = new URLSearchParams({ data: JSON.stringify([record]) })
  const added = await answer(fetch(`${url}/api/v1/domainwatch/add?api=${key}`, { method: 'POST', body }))
  assert.deepEqual(added, { status: 200, count: 1 })
  const listed = await answer(fetch(`${url}/api/v1/domainwatch/list?api=${key}&search=and`))
  assert.equal(listed['count'], 1)
  const refused = await answer(fetch(`${url}/api/v1/domainwatch/dns?api=${key}&domain=example.com`))
  assert.equal(refused['status'], 400)
  step('domainwatch')
}

async function useImagestore(url: string, api: string): Promise<void> {
  const picture = await readFile(join(root, 'assets/catalejo.png'))
  const info = { name: 'catalejo.png', mime: 'image/png', ip: '127.0.0.1' }
  const uploaded = await answer(
    fetch(`${url}/api/v1/imagestore/upload`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api, info, image: picture.toString('base64') }),
    }),
  )
  assert.equal(uploaded['size'], picture.length)
  const got = await answer(fetch(`${url}/api/v1/imagestore/get?api=${api}&hash=${String(uploaded['hash'])}`))
  assert.equal(got['name'], info.name)
  const link = `${url}/i/${String(uploaded['hash'])}`
  const original = await bytes(link, 'image/png')
  assert.ok(original.equals(picture), 'the link does not give the bytes uploaded')
  const resized = await bytes(`${link}.webp&m=w_300`, 'image/webp')
  assert.equal(resized.toString('latin1', 8, 12), 'WEBP')
  step('imagestore, with a resized link')
}

/** The page, and everything that it loads. */
async function useConsole(url: string): Promise<void> {
  const page = await fetch(`${url}/console/`)
  assert.equal(page.status, 200)
  const files = [...(await page.text()).matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, path]) => path)
  assert.ok(files.length >= 2, `the console's page loads ${files.join(', ')}`)
  for (const file of files) assert.equal((await fetch(`${url}/console/${file}`)).status, 200, file)
  step('the console')
}

async function answer(response: Promise<Response>): Promise<Record<string, unknown>> {
  return JSON.parse(await (await response).text())
}

async function bytes(url: string, type: string): Promise<Buffer> {
  const response = await fetch(url)
  assert.equal(response.status, 200, url)
  assert.equal(response.headers.get('content-type'), type)
  return Buffer.from(await response.arrayBuffer())
}

/** Where the service says that it listens. Its lines are read on, so that it never waits for a reader. */
async function getAddress(lines: ReturnType<typeof createInterface>): Promise<string> {
  return within(
    START_MS,
    new Promise<string>((resolve) => {
      lines.on('line', (line) => {
        if (line.startsWith('{') && line.includes('"address"')) resolve(JSON.parse(line).address)
      })
    }),
  )
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
