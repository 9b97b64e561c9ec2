import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { catalejo, firstKeys, serve } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { expectedHash, gradient, ImageClient } from '../support/images.ts'
import { KILL_WITH_PARENT } from '../support/node-process.ts'

const missing = ['nginx', 'caddy'].filter(
  (name) => spawnSync(name, [name === 'nginx' ? '-v' : 'version'], { stdio: 'ignore' }).error !== undefined,
)
const skip = missing.length > 0 && `not installed: ${missing.join(', ')}`

interface Proxy {
  readonly program: readonly string[]
  /** Its files below deploy/, and how they differ on a test machine. */
  readonly file: string
  readonly adapted: (text: string, to: { folder: string; port: number; upstream: number }) => string
}

const NGINX: Proxy = {
  program: ['nginx', '-e', 'stderr', '-c'],
  file: 'nginx/catalejo.conf',
  adapted: (text, { folder, port, upstream }) => `
    daemon off; master_process off; pid ${folder}/pid; error_log stderr; events {}
    http {
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
      ${text
        .replace('127.0.0.1:8080', `127.0.0.1:${upstream}`)
        .replace(/listen 80;/, `listen 127.0.0.1:${port + 1};`)
        .replace(/listen 443 ssl;\s*http2 on;/, `listen 127.0.0.1:${port} ssl http2;`)
        .replace('/var/log/nginx/catalejo.log', `${folder}/access.log`)
        .replace('/var/cache/nginx/catalejo', `${folder}/cache`)
        .replaceAll('/etc/ssl/example.cl', `${folder}/certificate`)
        .replaceAll('example.cl', 'localhost')}
    }`,
}

const CADDY: Proxy = {
  program: ['caddy', 'run', '--adapter', 'caddyfile', '--config'],
  file: 'caddy/Caddyfile',
  adapted: (text, { folder, port, upstream }) =>
    `{\n admin off\n auto_https disable_redirects\n storage file_system ${folder}/storage\n http_port ${port + 1}\n}\n` +
    text
      .replace('127.0.0.1:8080', `127.0.0.1:${upstream}`)
      .replace('log {', `log {\n output file ${folder}/access.log`)
      .replace(
        'example.cl {',
        `https://localhost:${port} {\n tls ${folder}/certificate.pem ${folder}/certificate.key`,
      ),
}

for (const [name, proxy] of Object.entries({ nginx: NGINX, caddy: CADDY })) {
  test(
    `${name} as in deploy/ passes everything on, and the doctor finds nothing`,
    { skip, timeout: 240_000 },
    async () => {
      await using folder = await temporaryFolder()
      const port = await freePort()
      const url = `https://localhost:${port}/catalejo`
      await using service = await serve([
        '--data',
        folder.path,
        '--base-url',
        url,
        '--trusted-proxies',
        '127.0.0.1',
      ])
      const keys = await firstKeys(service)
      const upstream = Number(/Server listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(service.stdout())?.[1])
      await using running = await start(proxy, folder.path, port, upstream)
      const { get } = running

      const local = `http://127.0.0.1:${upstream}/catalejo`
      const { stdout, stderr } = await catalejo(
        [
          'doctor',
          '--data',
          folder.path,
          '--port',
          String(upstream),
          '--base-url',
          url,
          '--trusted-proxies',
          '127.0.0.1',
        ],
        { NODE_EXTRA_CA_CERTS: join(folder.path, 'certificate.pem') },
      )
      const problems = stdout.split('\n').filter((line) => /^(warn|fail)/.test(line))
      assert.deepEqual(
        problems.filter((line) => !line.startsWith('warn  backups')),
        [],
        stdout + stderr,
      )

      assert.equal((await get('/catalejo/metrics')).status, 404)
      await get(`/catalejo/api/v1/domainwatch/list?api=${keys.domainwatch}`)
      let logged = ''
      await eventually(async () => {
        logged = await readFile(join(folder.path, 'access.log'), 'utf8')
        return logged.includes('/api/v1/domainwatch/list')
      }, 'the request is logged')
      assert.ok(!logged.includes(keys.domainwatch), 'the key is in the log')

      const fotos = new ImageClient(local, keys.imagestore)
      const png = await gradient(64, 64).png().toBuffer()
      await fotos.upload(png)
      const hash = expectedHash(png)
      const link = `/catalejo/i/${hash}.webp&m=w_32`
      assert.equal((await get(link)).status, 200)
      if (name !== 'nginx') return
      assert.equal((await get(link)).headers['x-cache'], 'HIT')
      await fotos.remove(hash)
      assert.equal((await get(link)).headers['x-cache'], 'HIT')
      assert.equal((await get(link, { 'x-purge': '1' })).status, 404)
      assert.equal((await get(link)).status, 404)
    },
  )
}

async function start({ adapted, file, program }: Proxy, folder: string, port: number, upstream: number) {
  const certificate = join(folder, 'certificate')
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost',
    '-keyout',
    `${certificate}.key`,
    '-out',
    `${certificate}.pem`,
  ])
  assert.equal(made.status, 0, String(made.stderr))
  await mkdir(join(folder, 'storage'), { recursive: true })
  const text = await readFile(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')
  const path = join(folder, 'proxy.conf')
  await writeFile(path, adapted(text, { folder, port, upstream }))
  const [command, ...words] = [...KILL_WITH_PARENT, ...program, path]
  const child = spawn(command, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder },
  })
  let said = ''
  child.stderr?.on('data', (chunk) => (said += String(chunk)))
  const ended = once(child, 'exit')
  const ca = await readFile(`${certificate}.pem`)
  const get = (target: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number | undefined; headers: Record<string, unknown> }>((resolve, reject) => {
      request({ host: 'localhost', family: 4, port, path: target, ca, headers }, (response) => {
        response.resume()
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers }))
      })
        .on('error', reject)
        .end()
    })
  await eventually(
    async () => {
      assert.equal(child.exitCode, null, said)
      return (await get('/catalejo/healthz').catch(() => undefined))?.status === 200
    },
    () => `${program[0]} answers: ${said}`,
  )
  return {
    get,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
