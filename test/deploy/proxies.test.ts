import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { catalejo, firstKeys, serve } from '../support/cli.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/free-port.ts'
import { expectedHash, gradient, ImageClient, noise } from '../support/images.ts'
import { skipWithout, startProgram } from '../support/program.ts'

const skip = skipWithout('nginx', 'caddy', 'varnishd')

interface Ports {
  readonly folder: string
  readonly port: number
  readonly upstream: number
  readonly varnish: number
}

interface Proxy {
  readonly program: readonly string[]
  /** Its files below deploy/, and how they differ on a test machine. */
  readonly file: string
  readonly adapted: (text: string, ports: Ports) => string
  /** Removes all links to an image from its cache, as its file says; undefined without a cache. */
  readonly purge?: (hash: string, ports: Ports) => void
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
        .replace('path /var/cache/nginx/catalejo', `path ${folder}/cache`)
        .replaceAll('/etc/ssl/example.cl', `${folder}/certificate`)
        .replaceAll('example.cl', 'localhost')}
    }`,
  purge: (hash, { folder }) =>
    runCommand('nginx/catalejo.conf', / grep .+/, [
      ['HASH', hash],
      ['/var/cache/nginx/catalejo', `${folder}/cache`],
    ]),
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

const CADDY_WITH_VARNISH: Proxy = {
  ...CADDY,
  adapted: (text, ports) =>
    CADDY.adapted(withSection(text, '@links'), ports).replace('127.0.0.1:6081', `127.0.0.1:${ports.varnish}`),
  purge: (hash, { varnish }) =>
    runCommand('varnish/catalejo.vcl', / curl .+/, [
      ['HASH', hash],
      ['6081', String(varnish)],
      ['curl', 'curl -sf'],
    ]),
}

/** Runs a command as a file in deploy/ writes it, with other places. */
function runCommand(
  file: string,
  pattern: RegExp,
  replacements: readonly (readonly [string, string])[],
): void {
  let [command = ''] =
    pattern.exec(readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')) ?? []
  for (const [text, other] of replacements) command = command.replace(text, other)
  const { status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
  assert.equal(status, 0, `${command}: ${stderr}`)
}

/** What browsers of each class accept, and the type they are sent. */
const ACCEPTS = [
  ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'image/avif'],
  ['image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5', 'image/avif'],
  ['image/webp,image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5', 'image/webp'],
  ['image/webp,*/*', 'image/webp'],
  ['image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5', 'image/jpeg'],
  ['*/*', 'image/jpeg'],
] as const

for (const [name, proxy] of Object.entries({
  nginx: NGINX,
  caddy: CADDY,
  'Caddy before Varnish': CADDY_WITH_VARNISH,
})) {
  test(
    `${name} as in deploy/ passes everything on, and the doctor finds nothing`,
    { skip, timeout: 240_000 },
    async () => {
      await using folder = await temporaryFolder()
      const port = await freePort()
      const url = `https://localhost:${port}/catalejo`
      const images = join(folder.path, 'images.json')
      await writeFile(images, JSON.stringify({ auto_format_cache: 'shared' }))
      await using service = await serve([
        '--image-settings',
        images,
        '--data',
        folder.path,
        '--base-url',
        url,
        '--trusted-proxies',
        '127.0.0.1',
      ])
      const keys = await firstKeys(service)
      const upstream = Number(/Server listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(service.stdout())?.[1])
      const ports = { folder: folder.path, port, upstream, varnish: await freePort() }
      await using _cache = proxy === CADDY_WITH_VARNISH ? await startVarnish(ports) : undefined
      await using running = await start(proxy, ports)
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
      const [jpeg, other] = [await noise(64, 64).jpeg().toBuffer(), await gradient(64, 64).jpeg().toBuffer()]
      for (const bytes of [jpeg, other]) assert.equal((await fotos.upload(bytes)).status, 200)
      const [hash, kept] = [jpeg, other].map((bytes) => `/catalejo/i/${expectedHash(bytes)}`)
      const links = [`${hash}`, `${hash}.webp&m=w_32`, `${hash}?m=w_33,f_png`]
      for (const link of [...links, `${kept}`]) assert.equal((await get(link)).status, 200)
      const { purge } = proxy
      if (purge === undefined) return

      const found = await Promise.all([...links, `${kept}`].map((link) => get(link)))
      assert.deepEqual(new Set(found.map(({ headers }) => headers['x-cache'])), new Set(['HIT']))
      const stored: unknown[] = []
      for (const [accept, type] of ACCEPTS) {
        const { headers } = await get(`${hash}&m=w_40,f_auto`, { accept, cookie: 'a=1' })
        assert.equal(headers['content-type'], type, accept)
        stored.push(headers['x-cache'])
      }
      assert.deepEqual(stored, ['MISS', 'HIT', 'MISS', 'HIT', 'MISS', 'HIT'])

      await fotos.remove(expectedHash(jpeg))
      assert.equal((await get(links[0] ?? '')).status, 200)
      // A client cannot purge.
      await get(links[0] ?? '', { 'cache-tag': expectedHash(jpeg) }, 'BAN')
      assert.equal((await get(links[0] ?? '')).headers['x-cache'], 'HIT')
      purge(expectedHash(jpeg), ports)
      for (const link of [...links, `${hash}&m=w_40,f_auto`])
        assert.equal((await get(link)).status, 404, link)
      assert.equal((await get(`${kept}`)).headers['x-cache'], 'HIT')
    },
  )
}

test(
  'Caddy as in deploy/ signs in whom its authentication server names',
  { skip: skipWithout('caddy'), timeout: 240_000 },
  async (t) => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const url = `https://localhost:${port}/catalejo`
    const flags = { '--data': folder.path, '--base-url': url, '--trusted-proxies': '127.0.0.1' }
    await using service = await serve([...Object.entries(flags).flat(), '--auth-header', 'Remote-User'])
    const { imagestore: key } = await firstKeys(service)
    const upstream = Number(/Server listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(service.stdout())?.[1])
    /** Knows users by a cookie, and one whose name it does not tell. */
    const authentication = createServer(({ headers, url: path }, response) => {
      const user = headers.cookie?.replace('user=', '')
      const isKnown = path === '/api/authz/forward-auth' && user !== undefined
      response.writeHead(isKnown ? 200 : 401, isKnown && user !== '' ? { 'remote-user': user } : {}).end()
    }).listen(0, '127.0.0.1')
    t.after(() => authentication.close().closeAllConnections())
    await once(authentication, 'listening')
    const address = authentication.address()
    const authPort = typeof address === 'object' ? address?.port : undefined
    const proxy: Proxy = {
      ...CADDY,
      adapted: (text, to) =>
        CADDY.adapted(withSection(text, '@console').replace(':9091', `:${authPort}`), to),
    }
    await using running = await start(proxy, { folder: folder.path, port, upstream, varnish: 0 })
    const signIn = async (headers: Record<string, string>) =>
      (
        await running.get(
          '/catalejo/console/session',
          { 'sec-fetch-site': 'same-origin', 'remote-user': 'fotos', ...headers },
          'POST',
        )
      ).status
    assert.equal(await signIn({ cookie: 'user=grupo' }), 200)
    assert.equal(await signIn({ cookie: 'user=desconocida' }), 403)
    // The header of the client does not count.
    assert.notEqual(await signIn({ cookie: 'user=' }), 200)
    assert.equal(await signIn({}), 401)
    assert.equal((await running.get('/catalejo/console/')).status, 401)
    assert.equal((await running.get(`/catalejo/api/v1/imagestore/list?api=${key}`)).status, 200)
  },
)

/** Removes the comment signs from the section of a Caddyfile that begins with a matcher. */
function withSection(text: string, matcher: string): string {
  const start = text.indexOf(`\t# ${matcher} `)
  const end = text.indexOf('\n\n', start)
  return text.slice(0, start) + text.slice(start, end).replaceAll('\t# ', '\t') + text.slice(end)
}

async function start({ adapted, file, program }: Proxy, ports: Ports) {
  const { folder, port } = ports
  const certificate = join(folder, 'certificate')
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
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
  await writeFile(path, adapted(text, ports))
  const ca = await readFile(`${certificate}.pem`)
  const get = (target: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<{ status: number | undefined; headers: Record<string, unknown> }>((resolve, reject) => {
      request({ host: 'localhost', family: 4, port, path: target, ca, headers, method }, (response) => {
        response.resume()
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers }))
      })
        .on('error', reject)
        .end()
    })
  const isReady = async () => (await get('/catalejo/healthz')).status === 200
  const running = await startProgram([...program, path], { isReady, environment: { HOME: folder } })
  return { get, ...running }
}

async function startVarnish({ folder, upstream, varnish }: Ports) {
  const text = await readFile(new URL('../../deploy/varnish/catalejo.vcl', import.meta.url), 'utf8')
  const path = join(folder, 'catalejo.vcl')
  await writeFile(path, text.replace('.port = "8080"', `.port = "${upstream}"`))
  const options = ['-F', '-j', 'none', '-n', join(folder, 'varnish'), '-s', 'malloc,32m', '-f', path]
  const url = `http://127.0.0.1:${varnish}/catalejo/healthz`
  const isReady = async () => (await fetch(url)).status === 200
  return startProgram(['varnishd', '-a', `127.0.0.1:${varnish}`, ...options], { isReady, signal: 'SIGTERM' })
}
