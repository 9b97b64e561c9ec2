import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { catalejo, serve } from '../support/cli.ts'
import { ENDPOINTS } from '../support/endpoints.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call, send } from '../support/http.ts'
import { record } from '../support/domains.ts'
import { startService } from '../support/service.ts'

test('all invalid settings are reported together, one line each', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'zona')
  await writeFile(file, 'Marte/Olimpo\n')
  const { code, stdout, stderr } = await catalejo(
    ['serve', '--port', '70000', '--log-level', 'mucho', '--base-url', 'ftp://x', '--failed-keys', '0'],
    {
      CATALEJO_DATA: ' ',
      CATALEJO_TIME_ZONE_FILE: file,
      CATALEJO_DNS_SERVERS: 'uno,dos',
      CATALEJO_DATABASE_URL: 'mysql://x',
      CATALEJO_BLOBS_URL: 'x',
      CATALEJO_TRUSTED_PROXIES: '10.0.0.0/8,casa',
      CATALEJO_CORS_ORIGINS: 'https://a.cl/',
      CATALEJO_HOST_FILE: join(folder.path, 'no-hay'),
      CATALEJO_WORKERS: 'muchos',
    },
  )
  assert.deepEqual([code, stdout], [78, ''])
  const zone = 'an IANA time zone, such as America/Santiago'
  assert.deepEqual(stderr.trimEnd().split('\n').toSorted(), [
    'CATALEJO_BASE_URL: «ftp://x» (flag --base-url) must be an http:// or https:// address without query, such as https://example.cl/catalejo',
    'CATALEJO_BLOBS_URL: «x» (environment) must be s3://bucket/prefix?endpoint=https://…&public_endpoint=https://…&redirect=1MiB&region=…&path_style=true|false, everything after the bucket optional',
    'CATALEJO_CORS_ORIGINS: «https://a.cl/» (environment) must be a comma-separated list, each entry * or an origin, such as https://example.cl',
    'CATALEJO_DATA: « » (environment) must be a folder',
    'CATALEJO_DATABASE_URL: «mysql://x» (environment) must be postgres://user:password@host:port/database, or nothing for SQLite in the data folder',
    'CATALEJO_DNS_SERVERS: «uno,dos» (environment) must be address:port,… of up to 8 servers',
    'CATALEJO_FAILED_KEYS: «0» (flag --failed-keys) must be an integer from 1 to 1000000',
    `CATALEJO_HOST_FILE: «${join(folder.path, 'no-hay')}» (environment) cannot be read: it must be the path of a readable file`,
    'CATALEJO_LOG_LEVEL: «mucho» (flag --log-level) must be one of trace, debug, info, warn, error, fatal, silent',
    'CATALEJO_PORT: «70000» (flag --port) must be an integer from 0 to 65535',
    `CATALEJO_TIME_ZONE: «Marte/Olimpo» (file ${file}) must be ${zone}`,
    'CATALEJO_TRUSTED_PROXIES: «10.0.0.0/8,casa» (environment) must be a comma-separated list, each entry an IP address or network, such as 10.0.0.0/8',
    'CATALEJO_WORKERS: «muchos» (environment) must be an integer from 1 to 128, or auto for one per core',
  ])
})

test('the key command uses the same settings', async () => {
  const { code, stderr } = await catalejo(['key', 'list'], { CATALEJO_PORT: 'x' })
  assert.deepEqual(
    [code, stderr],
    [78, 'CATALEJO_PORT: «x» (environment) must be an integer from 0 to 65535\n'],
  )
})

test('an unknown setting is a warning with the most similar name', async () => {
  await using folder = await temporaryFolder()
  const create = ['key', 'create', '--account', 'a', '--service', 'imagestore', '--data', folder.path]
  const { code, stderr } = await catalejo(create, {
    CATALEJO_PROT: '1',
    CATALEJO_TIMEZONE_FILE: 'x',
    CATALEJO_BASEURL: 'x',
  })
  assert.equal(code, 0)
  assert.deepEqual(stderr.trimEnd().split('\n').toSorted(), [
    'CATALEJO_BASEURL is not a known setting, did you mean CATALEJO_BASE_URL?',
    'CATALEJO_PROT is not a known setting, did you mean CATALEJO_PORT?',
    'CATALEJO_TIMEZONE_FILE is not a known setting, did you mean CATALEJO_TIME_ZONE_FILE?',
  ])
})

test('a setting without the one it depends on is a warning', async () => {
  await using folder = await temporaryFolder()
  const { code, stderr } = await catalejo(['key', 'create', '--account', 'a', '--service', 'admin'], {
    CATALEJO_DATA: folder.path,
    CATALEJO_DATABASE_CONNECTIONS: '20',
    CATALEJO_DATABASE_LISTEN_URL: 'postgres://localhost/x',
    CATALEJO_BACKUP_KEEP: '3',
  })
  assert.equal(code, 0)
  assert.deepEqual(stderr.trimEnd().split('\n').toSorted(), [
    'CATALEJO_BACKUP_KEEP has no effect without CATALEJO_BACKUP_TO',
    'CATALEJO_DATABASE_CONNECTIONS has no effect without CATALEJO_DATABASE_URL',
    'CATALEJO_DATABASE_LISTEN_URL has no effect without CATALEJO_DATABASE_URL',
  ])
})

test('a setting and its _FILE variable together are an error', async () => {
  const { code, stderr } = await catalejo(['key', 'list'], { CATALEJO_DATA: 'x', CATALEJO_DATA_FILE: 'y' })
  assert.equal(code, 78)
  assert.equal(
    stderr,
    'CATALEJO_DATA: set twice, directly and by CATALEJO_DATA_FILE «y»; set only one of them\n',
  )
})

test('a sign-in by a proxy without trusted proxies is an error', async () => {
  const { code, stderr } = await catalejo([
    'serve',
    '--port',
    '0',
    '--data',
    'x',
    '--auth-header',
    'Remote-User',
  ])
  assert.equal(code, 78)
  assert.equal(
    stderr,
    'CATALEJO_AUTH_HEADER needs CATALEJO_TRUSTED_PROXIES: only a proxy named there may sign in\n',
  )
})

test('flags win over the environment, the environment over defaults, and a file may hold a value', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'url')
  await writeFile(file, 'https://example.cl/catalejo/\n')
  const arguments_ = ['--data', join(folder.path, 'datos'), '--log-level', 'info']
  await using service = await serve(arguments_, {
    CATALEJO_DATA: '/dev/null/imposible',
    CATALEJO_PORT: '1',
    CATALEJO_LOG_LEVEL: 'silent',
    CATALEJO_BASE_URL_FILE: file,
    CATALEJO_HOST: '127.0.0.1',
  })
  assert.equal(service.url, 'https://example.cl/catalejo')
  assert.equal((await service.stop()).code, 0)
})

test('a base URL with a path is the prefix of all routes', async () => {
  await using service = await startService({ flags: { 'base-url': 'https://example.cl/uno/dos' } })
  const address = service.app.server.server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const origin = { url: `http://127.0.0.1:${address.port}` }
  for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json']) {
    assert.equal((await call(origin, `/uno/dos${path}`)).status, 200)
    assert.deepEqual((await call(origin, path)).body, { status: 404, msg: 'La dirección no existe' })
  }
  for (const { method, path } of ENDPOINTS) {
    assert.equal((await call(origin, `/uno/dos${path}`, { method })).status, 401)
    assert.equal((await call(origin, path, { method })).status, 404)
  }
  assert.deepEqual((await call(origin, '/uno/dos/i/nada')).body, { status: 404, msg: 'La imagen no existe' })
  assert.equal((await call(origin, '/uno/dos/healthz', { method: 'PUT' })).headers.get('allow'), 'GET, HEAD')
  const query = { api: service.domainKey, limit: 1 }
  await send(origin, '/uno/dos/api/v1/domainwatch/add', { data: [record('a'), record('b')] }, { query })
  const { headers } = await call(origin, '/uno/dos/api/v1/domainwatch/list', { query })
  assert.match(headers.get('link') ?? '', /^<https:\/\/example\.cl\/uno\/dos\/api\/v1\/domainwatch\/list\?/)
})
