import assert from 'node:assert/strict'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../src/lib/json.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { catalejoHere } from '../support/cli.ts'
import { add, record } from '../support/domains.ts'
import { diagnose, listening, ranWell } from '../support/doctor.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startService, type TestService } from '../support/service.ts'

const DAY = 86_400_000
const CHECKS = [
  'data folder',
  'disk',
  'memory',
  'clock',
  'time zone',
  'database',
  'pages of the database',
  'image store',
  'port',
  'public URL',
  'proxy',
  'metrics',
  'feeds',
  'watches',
  'keys',
  'backups',
]

/** An instance that is well and stays so. */
let well: TestService

suite('catalejo doctor', { timeout: 480_000 }, () => {
  before(async () => {
    well = await startService({ flags: { 'max-image-bytes': '1MiB' } })
    await ranWell(well)
  })
  after(() => well[Symbol.asyncDispose]())

  test('finds nothing in an instance that is well, with its service running and without', async () => {
    await using service = await startService()
    await using backups = await temporaryFolder()
    await add(service, [record('casa')])
    await ranWell(service)
    const flags = ['--backup-to', backups.path]
    const { accounts, database } = service.app.context
    const keys = await accounts.keys()
    const running = await diagnose(service, flags)
    assert.deepEqual(running.problems, [])
    // The service stores later which keys were used.
    await accounts.writeUses()
    assert.deepEqual(
      (await accounts.keys()).map(({ id }) => id),
      keys.map(({ id }) => id),
    )
    assert.deepEqual(await database.all(sql`SELECT id FROM key_uses WHERE id LIKE 'session-%'`), [])
    assert.equal(running.code, 0)
    assert.deepEqual([...new Set(running.checks)], CHECKS)
    await service.stop()
    const without = await diagnose(service, flags)
    assert.deepEqual(without, { ...running, checks: without.checks })
    const text = await catalejoHere(['doctor', '--data', service.data, '--port', '0', ...flags])
    assert.match(text.stdout, /^ok {4}database: SQLite, schema \d+$/m)
  })

  test('answers administrators in the service', async () => {
    const { key } = await well.newKey('dueña', 'admin')
    const response = await fetch(`${well.url}/api/v1/admin/doctor?api=${key}`)
    const body: unknown = await response.json()
    assert.ok(isObject(body) && Array.isArray(body['data']))
    const found = body['data'].map((one: unknown) => (isObject(one) ? `${one['level']} ${one['check']}` : ''))
    assert.deepEqual(
      [...new Set(found)],
      CHECKS.map((check) => `ok ${check}`),
    )
  })

  test('finds each of several breakages of one instance', async () => {
    await using service = await startService()
    await using folder = await temporaryFolder()
    await add(service, [record('casa')])
    await ranWell(service, 3 * DAY)
    await fetch(`${service.url}/healthz`, { headers: { 'x-forwarded-for': '192.0.2.1' } })
    assert.match(await service.log(), /"address":"127\.0\.0\.1".*X-Forwarded-For is ignored/)
    const limits = { scope: 'read', expiresAt: Date.now() + 60_000, rate: null } as const
    const { key, id } = await service.newKey('lectora', 'domainwatch', limits)
    await service.sql(`UPDATE keys SET expires_at = ${Date.now() - DAY} WHERE id = '${id}'`)
    assert.equal((await fetch(`${service.url}/api/v1/domainwatch/list?api=${key}`)).status, 401)
    // Uses are stored once a minute.
    await service.app.context.accounts.writeUses()
    await service.sql(`UPDATE changes SET at = at + ${8 * DAY}`)
    await chmod(service.data, 0o755)
    const feeds = join(folder.path, 'feeds.json')
    await plantFeeds(service, feeds)
    const flags = ['--backup-to', folder.path, '--feeds', feeds, '--time-zone', 'Europe/Madrid']
    const { code, problems } = await diagnose(service, flags)
    const expected = [
      /^warn data folder: other users of this machine can read .* → chmod -R go= /,
      /^fail clock: the newest change is 8\.0 days ahead of this clock/,
      /^warn time zone: the records are in the time zone America\/Santiago, .* → --time-zone America\/Santiago$/,
      /^warn proxy: X-Forwarded-For was ignored 1 time since the start: .* → name the address of the proxy in --trusted-proxies/,
      /^fail feeds: feed rota failed 3 times: no se pudo descargar → curl -I /,
      /^fail feeds: the last list of feed vacia was empty → /,
      /^warn feeds: feed hueco has a gap until /,
      new RegExp(
        `^warn keys: the key ${id} of «lectora» expired at .* → catalejo key create --account 'lectora'`,
      ),
      /^fail backups: the last backup is 3 days old → catalejo backup create; /,
    ]
    assert.equal(problems.length, expected.length, problems.join('\n'))
    for (const [i, pattern] of expected.entries()) assert.match(problems[i] ?? '', pattern)
    assert.equal(code, 2)
    await service.sql("UPDATE backup_runs SET error = 'the disk is full' WHERE kind = 'backup'")
    // Also without the setting of the service.
    const failed = await diagnose(service)
    assert.equal(
      failed.problems.at(-1),
      'fail backups: the last backup failed: the disk is full → catalejo backup create',
    )
    await service.sql(`DELETE FROM backup_runs WHERE kind <> 'verify'`)
    assert.equal(
      (await diagnose(service)).problems.at(-1),
      'warn backups: there are no regular backups → set --backup-to, and run catalejo backup drill after the first one',
    )
    const missing = await catalejoHere(['doctor', '--data', join(service.data, 'missing')])
    assert.equal(missing.code, 2)
    assert.match(missing.stdout, /^fail {2}data folder: there is no folder /m)
  })

  test('finds what a proxy does to the path, to streams and to large bodies', async () => {
    await using service = await startService({ flags: { 'base-url': 'https://example.cl/catalejo' } })
    await ranWell(service)
    await using other = await startService({ flags: { 'base-url': 'https://example.cl/catalejo' } })
    const port = portOf(service)
    await using proxy = await badProxy(port)
    const { code, problems } = await diagnose(service, [
      '--port',
      String(port),
      '--base-url',
      `${proxy.url}/catalejo`,
    ])
    assert.deepEqual(
      problems.map((line) => line.slice(0, 60)),
      [
        `warn public URL: the proxy buffers event streams → turn off `,
        `warn public URL: a body of 3 MiB is answered by HTTP 413 in `,
      ],
    )
    assert.equal(code, 1)
    const elsewhere = await diagnose(service, [
      '--port',
      String(port),
      '--base-url',
      `http://127.0.0.1:${portOf(other)}/catalejo`,
    ])
    assert.match(elsewhere.problems.join('\n'), /does not lead to this instance/)
    assert.equal(elsewhere.code, 2)
  })

  test('says that the service is not running where the proxy answers for it', async () => {
    await using service = await startService()
    await ranWell(service)
    await service.stop()
    const answering = (status: number, date = new Date()) =>
      listening(
        createServer((_request, response) => response.writeHead(status, { date: date.toUTCString() }).end()),
      )
    await using down = await answering(502)
    assert.deepEqual((await diagnose(service, ['--base-url', down.url])).problems, [
      `fail public URL: the service is not running, and the proxy answers 502 at ${down.url} → start the service: systemctl start catalejo, or catalejo serve`,
    ])
    await using elsewhere = await answering(200, new Date(Date.now() - 8 * DAY))
    assert.deepEqual((await diagnose(service, ['--base-url', elsewhere.url])).problems, [
      `fail clock: the clock is 8.0 days ahead of the clock of ${new URL(elsewhere.url).host} → synchronise it: timedatectl set-ntp true`,
    ])
    const nobody = `http://127.0.0.1:${await freePort()}`
    assert.deepEqual((await diagnose(service, ['--base-url', nobody])).problems, [
      `fail public URL: ${nobody} cannot be reached from here: connect ECONNREFUSED ${new URL(nobody).host} → check the proxy, its certificate, and --base-url`,
    ])
  })

  test('says which variable names the private authority of a certificate', async () => {
    const pem = await readFile(new URL('../fixtures/tls/loopback.pem', import.meta.url))
    await using proxy = await listening(createTlsServer({ key: pem, cert: pem }))
    const url = proxy.url.replace('http', 'https')
    assert.deepEqual((await diagnose(well, ['--base-url', url])).problems, [
      `fail public URL: the authority of the certificate of ${url} is not known here (UNABLE_TO_VERIFY_LEAF_SIGNATURE) → NODE_EXTRA_CA_CERTS=/path/of/the/authority.pem catalejo doctor`,
    ])
  })

  test('says that a certificate is not valid at the time of the clock', async () => {
    const path = fileURLToPath(new URL('../fixtures/tls/expired.pem', import.meta.url))
    const pem = await readFile(path)
    await using proxy = await listening(createTlsServer({ key: pem, cert: pem }))
    const url = proxy.url.replace('http', 'https')
    const { problems } = await diagnose(well, ['--base-url', url], { NODE_EXTRA_CA_CERTS: path })
    assert.deepEqual(problems, [
      `fail public URL: the certificate of ${url} is not valid at the time of this clock (CERT_HAS_EXPIRED) → set the clock right, or renew the certificate`,
    ])
  })

  test('finds a port that another program or another instance has', async () => {
    await using other = await startService()
    const { port } = new URL(other.url)
    const taken = await diagnose(well, ['--port', port])
    assert.deepEqual(taken.problems, [
      `fail port: another instance of Catalejo listens on ${other.url} → stop it, or take another --port`,
    ])
    await using program = await listening(createServer((_request, response) => response.end('hello')))
    const foreign = await diagnose(well, ['--port', String(program.port)])
    assert.match(foreign.problems.join(), /^fail port: another program listens on port \d+ of 127\.0\.0\.1/)
    assert.equal(foreign.code, 2)
  })
})

function portOf({ app }: TestService): number {
  const [address] = app.server.addresses()
  assert.ok(typeof address === 'object')
  return address.port
}

/** A feed that fails, one whose list is empty, and one with a gap. */
async function plantFeeds(service: TestService, path: string): Promise<void> {
  const entry = (name: string) => ({
    name,
    url: `http://127.0.0.1:9/${name}`,
    format: 'deletions',
    every: '1d',
    account: 'grupo',
  })
  await writeFile(path, JSON.stringify(['rota', 'vacia', 'hueco'].map(entry)))
  const now = Date.now()
  for (const [name, failures, read] of [
    ['rota', 3, 1],
    ['vacia', 0, 0],
    ['hueco', 0, 1],
  ] as const) {
    await service.sql(
      `INSERT INTO feed_states (name, source, first_at, attempted_at, due_at, succeeded_at, failures, error, records_read)
       VALUES ('${name}', 'x', ${now}, ${now}, ${now}, ${now}, ${failures}, 'no se pudo descargar', ${read})`,
    )
  }
  await service.sql(
    `INSERT INTO list_sources (account_id, name, kind, gaps, gap_to)
     SELECT id, 'feed:hueco', 'deletions', 1, ${now - DAY} FROM accounts WHERE name = 'grupo'`,
  )
}

/** A proxy that holds answers back until they end, and refuses bodies of more than 1 MiB in HTML. */
const badProxy = (port: number) =>
  listening(
    createServer((incoming, outgoing) => {
      if (Number(incoming.headers['content-length'] ?? 0) > 1_048_576) {
        outgoing.writeHead(413, { 'content-type': 'text/html' }).end('<h1>413</h1>')
        return
      }
      const { headers, method, url } = incoming
      const onward = request({ port, path: url, method, headers }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          outgoing.writeHead(response.statusCode ?? 502, response.headers).end(Buffer.concat(parts)),
        )
      })
      onward.on('error', () => outgoing.destroy())
      outgoing.on('close', () => onward.destroy())
      incoming.pipe(onward)
    }),
  )
