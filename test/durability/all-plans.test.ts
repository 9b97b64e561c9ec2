/** Every statement that the service runs is explained against large tables: none goes through one that does not have to. */
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { catalejo, serve, type Served } from '../support/cli.ts'
import { newDatabase, noPostgres, runOn, type TestDatabase } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { feedsFile } from '../support/feeds.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient, ImageClient, stamped } from '../support/images.ts'
import { listen } from '../support/listen.ts'
import { openSession } from '../support/postgres.ts'
import {
  JSON_INSIDE,
  LARGE,
  mayScan,
  scansOfPostgres,
  scansOfSqlite,
  type Recorded,
} from '../support/plans.ts'

const RECORDER = new URL('../support/record-statements.ts', import.meta.url).href
const RECORDS = 30_000
const OBSERVED = 100_000
const DELETED = 1_400
const IMAGES = 10_000
const DELIVERIES = 20_000
const WATCHES = 5_000
/** Two hundred accounts hold as many as they may. */
const CLAIMS = 20_000
const DISMISSED = 30_000
const LISTED = 100_000
const DECISIONS = 30_000
const DAY = 86_400
const TIMEOUT_MS = 600_000

/** Lists come from memory: only their further fields are read. */
const FILTERS = [{}, { last_register: '20' }, { order: 'deleted', limit: '5' }] as const

/** Asks for everything there is. @param keys by service */
async function useAll(served: Served, keys: Readonly<Record<string, string>>) {
  const ask = async (path: string, query: Readonly<Record<string, string>> = {}, init: RequestInit = {}) => {
    const parameters = new URLSearchParams({ api: keys[path.split('/')[0] ?? ''] ?? '', ...query })
    const response = await fetch(`${served.url}/api/v1/${path}?${parameters}`, init)
    const text = await response.text()
    assert.ok(
      response.status < 500,
      `${path} ${JSON.stringify(query)}: ${response.status} ${text.slice(0, 200)}`,
    )
    return { link: response.headers.get('link'), text }
  }
  /** Returns the fields of the answer. */
  const get = async (path: string, query: Readonly<Record<string, string>> = {}) =>
    Object(JSON.parse((await ask(path, query)).text))
  /** Posts fields, and returns those of the answer. */
  const post = async (path: string, fields: Readonly<Record<string, unknown>>, query = {}) => {
    const headers = { 'content-type': 'application/json' }
    const { text } = await ask(path, query, { method: 'POST', headers, body: JSON.stringify(fields) })
    return Object(JSON.parse(text))
  }
  const remove = (path: string, query = {}) => ask(path, query, { method: 'DELETE' })
  const date_reg = '2025-06-01 10:00:00'
  const one = (domain: string, status: number) => ({
    domain,
    length: domain.length,
    reserve: 0,
    status,
    date_reg,
  })
  await post('domainwatch/add', { data: [one('n1', 0), one('nuevo', 1)] })
  await post('domainwatch/add', { data: Array.from({ length: 3_000 }, (_, i) => one(`tanda${i}`, i % 2)) })
  await post('domainwatch/update', { data: [{ domain: 'n2', revision: 1, discarded: 1, status: 0 }] })
  const seen = [1, 2].map((i) => ({ domain: `tanda${i}`, seen: 1, tags: ['t'], expect: { seen: 0 } }))
  for (let i = 0; i < 2; i++) await post('domainwatch/update', { data: seen })
  // Lists wait for the index for some seconds only.
  const list = new URL(`/api/v1/domainwatch/list?api=${keys['domainwatch']}`, served.url)
  await eventually(async () => (await fetch(list)).ok, 'the index is loaded')
  for (const path of ['list', 'export']) await ask(`domainwatch/${path}`, { search: 'tanda1', fields: 'all' })
  for (const filters of FILTERS)
    for (const fields of ['', 'all']) await ask('domainwatch/list', { ...filters, ...(fields && { fields }) })
  for (const query of [
    {},
    { status: '0' },
    { search: 'tanda', order: 'name' },
    { rev: '', dis: '', limit: '3' },
  ]) {
    await post('domainwatch/queue', query)
  }
  await post('domainwatch/update', { data: [{ domain: 'tanda0', revision: 1 }] })
  await ask('domainwatch/queue')
  await ask('domainwatch/queue')
  await ask('domainwatch/list', { fields: 'all', search: 'tanda', order: 'modified', limit: '5' })
  await remove('domainwatch/queue', { data: '["tanda2"]' })
  await remove('domainwatch/queue')
  for (const query of [{}, { search: 'fuera' }, { limit: '5', cursor: '9999.fuera7' }])
    await ask('domainwatch/dismissed', query)
  await remove('domainwatch/dismissed', { data: '["fuera1"]' })
  for (const query of [{ dis: '' }, { search: 'tanda1' }, { last_register: '5' }]) {
    for (const format of ['csv', 'ndjson']) await ask('domainwatch/export', { format, ...query })
    await ask('domainwatch/stats', { ...(query.last_register === undefined ? query : {}) })
  }
  const form = new FormData()
  form.set('file', new Blob(['tanda1.cl\nnueva1.cl\n']))
  const imported = await ask('domainwatch/import', { format: 'deletions' }, { method: 'POST', body: form })
  const started = [Object(JSON.parse(imported.text))]
  started.push(await post('domainwatch/bulk', { search: 'tanda1', set: { note: 'x' } }))
  for (const [i, path] of ['imports', 'bulk', 'bulk'].entries()) {
    const job = String(started[i].id)
    const state = async () => (await get(`domainwatch/${path}`, { id: job })).state
    await eventually(async () => (await state()) === 'done', 'the job ended')
    await ask(`domainwatch/${path}`)
    await remove(`domainwatch/${path}`, { id: job })
    if (i === 1) started.push(await post('domainwatch/bulk/undo', { id: job }))
  }
  const hide = { name: 'a', action: 'hide', starts: 'tanda29' }
  const rule = await post('domainwatch/rules', hide)
  await post('domainwatch/rules', { ...hide, action: 'tag', tag: 'nueva', starts: 'etiqueta' })
  await post('domainwatch/add', { data: [one('etiqueta1', 0), one('etiqueta2', 1)] })
  await post('domainwatch/rules/preview', { starts: 'tanda' })
  await ask('domainwatch/list', { hidden: '0', limit: '5' })
  await ask('domainwatch/rules')
  await post('domainwatch/rules/update', { id: rule.id, paused: 1 })
  await remove('domainwatch/rules', { id: rule.id })
  const view = { name: 'a', filters: 'starts=tanda', shared: 1 }
  const saved = await post('domainwatch/views', view)
  await post('domainwatch/views', { id: saved.id, shared: 0 })
  await ask('domainwatch/views')
  await remove('domainwatch/views', { id: saved.id })
  await ask('domainwatch/events', { format: 'atom' })
  await ask('domainwatch/history', { domain: 'n1' })
  await ask('domainwatch/activity')
  await ask('domainwatch/list', { ns: 'ns1.example.com', ip: '192.0.2.1' })
  await ask('domainwatch/similar', { domain: 'n1', limit: '5' })
  await ask('domainwatch/campaigns')
  for (const path of ['list', 'export'])
    await ask(`domainwatch/${path}`, { order: 'interest', fields: 'interest', search: 'tanda' })
  await remove('domainwatch/interest')
  const url = 'https://example.invalid/'
  const made = await post('domainwatch/watches', { name: 'a', starts: 'avisada', atom: '', url, shared: 1 })
  await ask('domainwatch/watches')
  const id = String(made.id)
  await post('domainwatch/add', { data: [one(`avisada${Date.now()}`, 0)] })
  // A delivery begins, fails, and is tried again.
  let begun: unknown
  await eventually(async () => {
    begun = (await get('domainwatch/watches/deliveries', { id })).data[0]
    return Object(begun).attempts > 0
  }, 'a delivery that failed')
  await post('domainwatch/watches/replay', {}, { id, delivery: Object(begun).id })
  const edit = { id, paused: 1, shared: 1, url: 'https://otro.invalid/', atom: '0', search: 'y' }
  await post('domainwatch/watches/update', edit)
  await post('domainwatch/watches/update', { id, paused: 0, url: '', atom: '', remind: 5 })
  await post('domainwatch/watches/update', { id, url })
  await post('domainwatch/watches/rotate', {}, { id })
  const { link } = await ask('domainwatch/watches/deliveries', { id: 'w7', limit: '5' })
  const cursor = /[?&]cursor=([^&>]+)/.exec(link ?? '')?.[1] ?? ''
  await ask('domainwatch/watches/deliveries', { id: 'w7', limit: '5', cursor })
  await post('domainwatch/watches/replay', {}, { id: 'w7', delivery: 'msg_650' })
  await remove('domainwatch/watches', { id })
  // A digest that is planned for another hour, and given up.
  const daily = { name: 'b', search: 'x', digest: '08:00', url }
  const { id: digest } = await post('domainwatch/watches', daily)
  await post('domainwatch/watches/update', { id: digest, digest: '09:30' })
  await post('domainwatch/watches/test', { id: digest })
  await post('domainwatch/watches/update', { id: digest, digest: '' })
  await eventually(async () => {
    const { data } = await get('domainwatch/feeds')
    return data.every(({ last_attempt }: { last_attempt: unknown }) => last_attempt !== null)
  }, 'the feed was fetched')
  await ask('domainwatch/list', { api: 'no es una clave' })

  const client = new ImageClient(served.url, keys['imagestore'] ?? '')
  const png = await gradient(20, 10).png().toBuffer()
  const hashes: string[] = []
  for (let i = 0; i < 3; i++) hashes.push(String((await client.upload(stamped(png, `${i}`))).body['hash']))
  await client.get(hashes[0] ?? '')
  const lists = [
    {},
    { search: 'foto' },
    { group: 'similar' },
    { limit: '1' },
    { tag: 't7' },
    { trash: '1' },
    { mime: 'image/png' },
    ...['date', 'name', 'size'].flatMap((order) =>
      ['asc', 'desc'].map((sort) => ({ order, sort, limit: '5' })),
    ),
    { from: '1', to: '2', order: 'size' },
  ]
  for (const query of lists) {
    const { link } = await ask('imagestore/list', query)
    const cursor = /[?&]cursor=([^&>]+)/.exec(link ?? '')?.[1]
    if (cursor !== undefined) await ask('imagestore/list', { ...query, cursor: decodeURIComponent(cursor) })
  }
  await ask('imagestore/similar', { hash: hashes[0] ?? '' })
  await post('imagestore/update', { hash: hashes[0], name: 'a', tags: ['a'] })
  for (const restore of [0, 1]) await post('imagestore/trash', { hash: hashes[0], restore })
  await post('imagestore/alias', { name: 'portada', hash: hashes[0] })
  await post('imagestore/alias', { name: 'otra', hash: '' })
  await ask('imagestore/aliases')
  await post('imagestore/bans', { hash: hashes[0] })
  await ask('imagestore/bans')
  const hook = await post('imagestore/hooks', { url })
  await ask('imagestore/hooks')
  await remove('imagestore/hooks', { id: hook.id })
  const ticket = String((await post('imagestore/tickets', {})).url)
  const tus = { 'tus-resumable': '1.0.0' }
  const upload = await fetch(ticket, { method: 'POST', headers: { ...tus, 'upload-length': '9' } })
  await fetch(new URL(upload.headers.get('location') ?? '', ticket), {
    method: 'PATCH',
    headers: { ...tus, 'content-type': 'application/offset+octet-stream', 'upload-offset': '0' },
    body: 'no imagen',
  })
  await (await client.link('@fotos/portada')).arrayBuffer()
  await ask('imagestore/stats')
  await (await client.link(`${hashes[0]}&m=w_10`)).arrayBuffer()
  await client.remove(hashes[1] ?? '')
  for (const path of ['accounts', 'keys', 'system', 'audit', 'presets', 'watermarks'])
    await ask(`admin/${path}`)
  for (const modifiers of ['w_10', '']) await post('admin/presets', { name: 'portada', modifiers })
  await post('admin/settle', { account: 'fotos', max_images: 1_000_000 })
}

const n = (sqlite: boolean, count: number) =>
  sqlite
    ? `(WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count}) SELECT i FROM s)`
    : `(SELECT i FROM generate_series(1, ${count}) AS i)`

const NAME = 'no statement goes through a large table, but for those that want all of it'

test(`SQLite: ${NAME}`, { timeout: TIMEOUT_MS }, () => noScans({ url: '' }))

test(`PostgreSQL: ${NAME}`, { timeout: TIMEOUT_MS, skip: noPostgres }, async () => {
  await using database = await newDatabase()
  await noScans(database)
})

async function noScans(database: Pick<TestDatabase, 'url'>): Promise<void> {
  await using folder = await temporaryFolder()
  const data = join(folder.path, 'data')
  await mkdir(data)
  const isSqlite = database.url === ''
  const log = join(folder.path, 'statements')
  const environment = {
    NODE_OPTIONS: `--import ${RECORDER}`,
    RECORDED_STATEMENTS: log,
    CATALEJO_DATA: data,
    ...(isSqlite ? {} : { CATALEJO_DATABASE_URL: database.url }),
  }
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await catalejo(args, environment)
    assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`)
    return stdout.trim()
  }
  const key = (account: string, service: string) =>
    run('key', 'create', '--account', account, '--service', service)
  const keys = {
    domainwatch: await key('grupo', 'domainwatch'),
    imagestore: await key('fotos', 'imagestore'),
    admin: await key('jefe', 'admin'),
  }
  const sql = (statement: string) => runOn(database.url, data, statement)
  // As on a server whose statistics are not made yet.
  if (!isSqlite) for (const table of LARGE) await sql(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`)

  const date = (i: number) => new Date(Date.UTC(2025, 0, 1) + ((i * 7_919_317) % 30_000_000) * 1_000)
  const files = ['altas.csv', 'bajas.txt', 'todo.csv', 'todo.ndjson'].map((name) => join(folder.path, name))
  const [registrations = '', deletions = '', csv = '', ndjson = ''] = files
  const lines = Array.from({ length: RECORDS }, (_, i) => `n${i}.cl,${date(i).toISOString().slice(0, 19)}`)
  await writeFile(registrations, `Nombre Dominio,Fecha Inscripción\n${lines.join('\n')}\n`)
  await writeFile(deletions, Array.from({ length: DELETED }, (_, i) => `n${i * 20}.cl`).join('\n'))
  await run('import', '--format', 'registrations', registrations)
  await run('import', '--format', 'deletions', deletions)
  await writeFile(csv, (await run('export')).split('\n').slice(0, 5_000).join('\n'))
  await writeFile(ndjson, (await run('export', '--format', 'ndjson')).split('\n').slice(0, 5_000).join('\n'))
  await run('import', csv)
  await run('import', ndjson)

  const dhash = isSqlite ? "substr('000000000000000' || i, -16)" : "lpad(i::text, 16, '0')"
  await sql(`INSERT INTO blobs (hash, key, format, mime, size, width, height, frames, dhash)
    SELECT 'h' || i, 'k' || i, 'png', 'image/png', 9, 1, 1, 1, ${dhash} FROM ${n(isSqlite, IMAGES)} AS s`)
  await sql(`INSERT INTO images (account_id, hash, name, name_folded, ip, date, tags)
    SELECT (SELECT id FROM accounts WHERE name = 'fotos'), 'h' || i, 'foto', 'foto', '1.2.3.4', ${DAY} * (i % 300) + i, '["t' || (i % 500) || '"]' FROM ${n(isSqlite, IMAGES)} AS s`)
  await sql(`UPDATE images SET expires = 1 WHERE hash LIKE 'h1_'`)
  await sql(`UPDATE images SET trashed_at = 1 WHERE hash LIKE 'h2_'`)
  await sql(`INSERT INTO image_aliases (account_id, name, hash)
    SELECT (SELECT id FROM accounts WHERE name = 'fotos'), 'a' || i, 'h' || i FROM ${n(isSqlite, IMAGES)} AS s`)
  await sql(`INSERT INTO name_servers (name, first_at, last_at, servers)
    SELECT 'n' || i, 1, 2, '[]' FROM ${n(isSqlite, OBSERVED)} AS s`)
  await sql(`INSERT INTO mail_servers (name, first_at, last_at, servers)
    SELECT 'n' || i, 1, 2, '[]' FROM ${n(isSqlite, OBSERVED)} AS s`)
  await sql(`INSERT INTO observed_servers (kind, server, name, last_at)
    SELECT 'ns', 'ns' || (i % 500) || '.example.com', 'n' || i, 1 FROM ${n(isSqlite, OBSERVED)} AS s`)
  // Nothing is delivered for accounts without keys.
  await sql(`INSERT INTO accounts (name, service, created_at)
    SELECT 'cuenta' || i, 'domainwatch', 1 FROM ${n(isSqlite, WATCHES / 50)} AS s`)
  const member = `(SELECT id FROM accounts WHERE name = 'cuenta' || (1 + i / 51))`
  await sql(`INSERT INTO views (id, account_id, name, filters, shared, created_at)
    SELECT 'v' || i, ${member}, 'muchas', 'search=-', CASE WHEN i % 500 = 7 THEN 1 ELSE 0 END, i
    FROM ${n(isSqlite, WATCHES)} AS s`)
  await sql(`INSERT INTO upload_tickets (digest, account_id, key_id, expires_at, uses_left, terms)
    SELECT 't' || i, ${member}, 'k' || i, ${Date.now() + DAY * 1_000} + i, 1, '{}' FROM ${n(isSqlite, WATCHES)} AS s`)
  await sql(`INSERT INTO ticket_uploads (id, ticket, account_id, length, expires_at)
    SELECT 'u' || i, 't' || i, ${member}, 9, ${Date.now() + DAY * 1_000} + i FROM ${n(isSqlite, WATCHES)} AS s`)
  await sql(`INSERT INTO image_bans (account_id, id, hash, distance, created_at)
    SELECT ${member}, 'b' || i, 'h' || i, 4, 1 FROM ${n(isSqlite, WATCHES)} AS s`)
  await key('vecino', 'domainwatch')
  await sql(`INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, secret, shared,
      deliveries)
    SELECT 'w' || i, (SELECT id FROM accounts WHERE name = CASE i WHEN 7 THEN 'vecino' ELSE 'cuenta' || (1 + i / 51) END), 'muchas', '{"search":"-"}', 'new', 1, 'active',
      'whsec_AAAA', CASE i WHEN 7 THEN 1 ELSE 0 END, 100
    FROM ${n(isSqlite, WATCHES)} AS s`)
  await sql(`INSERT INTO watch_destinations (id, watch_id, position, channel, address, state, cursor)
    SELECT CASE i WHEN 7 THEN 'destino' ELSE 'd' || i END, 'w' || i, 0, 'webhook', 'https://example.invalid/', 'active', ''
    FROM ${n(isSqlite, WATCHES)} AS s`)
  await sql(`INSERT INTO watch_deliveries
      (watch_id, number, id, destination_id, channel, created_at, events, state, attempts, body)
    SELECT 'w' || ((i + 99) / 100), i % 100, 'msg_' || i, 'destino', 'webhook', ${Date.now()}, 1, 'delivered', 1, '{}'
    FROM ${n(isSqlite, DELIVERIES)} AS s`)
  await sql(`INSERT INTO claims (name, account_id, until)
    SELECT 'n' || i, 1000 + i % 20, ${Date.now() + 600_000} FROM ${n(isSqlite, CLAIMS)} AS s`)
  await sql(`INSERT INTO dismissed (name, dismissed_at, status, date_reg, date_reg_known, past_drops)
    SELECT 'fuera' || i, i, 1, '2025-06-01 10:00:00', 1, 0 FROM ${n(isSqlite, DISMISSED)} AS s`)
  await sql(`INSERT INTO decisions (name, wanted, decided_at)
    SELECT 'decidido' || i, i % 2, i FROM ${n(isSqlite, DECISIONS)} AS s`)
  await sql(`INSERT INTO listed_names (name, source_id, not_before, listed_at)
    SELECT 'baja' || i, (SELECT min(id) FROM list_sources), 1, 2 FROM ${n(isSqlite, LISTED)} AS s`)
  await sql(`UPDATE domains SET discarded_at = 1 WHERE name LIKE 'n777%'`)

  const recorded = async (): Promise<Recorded[]> =>
    (await readFile(log, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  // A list that changes records, and one that nobody serves.
  const lists = createServer((_request, response) => void response.end('fuente1.cl\nn1.cl\n'))
  const port = await listen(lists)
  const feed = { format: 'deletions', every: '5m', account: 'grupo' }
  const feeds = await feedsFile(folder.path, [
    { ...feed, name: 'lista', url: `http://127.0.0.1:${port}/` },
    { ...feed, name: 'ninguna', url: 'https://example.invalid/' },
  ])
  const flags = ['--feeds', feeds, '--webhook-networks', '127.0.0.0/8']
  {
    await using served = await serve(flags, environment)
    await useAll(served, keys)
    // The background jobs look for work every few seconds.
    const jobs = [
      'discarded_at <=',
      'expires <=',
      "ip <> ''",
      'FROM blob_trash',
      'FROM watch_deliveries WHERE created_at <=',
      'ORDER BY replay_at, number',
      'AND at >=',
    ]
    await eventually(async () => {
      const texts = (await recorded()).map(({ text }) => text)
      return jobs.every((job) => texts.some((text) => text.includes(job)))
    }, 'every background job has run')
    assert.equal((await served.stop()).code, 0)
  }
  lists.close()
  await run('key', 'list')
  await run('account', 'list')
  await run('changes')
  await mkdir(join(folder.path, 'backup'))
  await catalejo(['verify'], environment)

  const statements = await recorded()
  assert.ok(statements.length > 100, `${statements.length} statements`)
  const asked = [
    'INSERT INTO feed_states',
    'DELETE FROM feed_states',
    'INTO claims',
    'max(until) AS until FROM claims',
    'SET next_at',
    'INSERT INTO watch_deliveries',
    'UPDATE watch_deliveries',
  ]
  for (const part of asked)
    assert.ok(
      statements.some(({ text }) => text.replaceAll(/\s+/g, ' ').includes(part)),
      part,
    )
  const faults: string[] = []
  const look = async (state: string, scansOf: (statement: Recorded) => Promise<readonly string[]>) => {
    for (const statement of statements) {
      const scans = await scansOf(statement)
      const isAllowed = mayScan(statement.text) && !scans.some((scan) => scan.includes(JSON_INSIDE))
      if (scans.length > 0 && !isAllowed)
        faults.push(`${state}: ${scans.join(' | ')}\n${statement.text.replaceAll(/\s+/g, ' ')}`)
    }
  }
  if (isSqlite) {
    const found = (file: DatabaseSync) => async (statement: Recorded) => scansOfSqlite(file, statement)
    using file = new DatabaseSync(join(data, 'catalejo.db'))
    await look('without statistics', found(file))
    file.exec('ANALYZE')
    file.close()
    using analyzed = new DatabaseSync(join(data, 'catalejo.db'))
    await look('with statistics', found(analyzed))
  } else {
    await using client = await openSession(database.url)
    await look('without statistics', (statement) => scansOfPostgres(client, statement, false))
    await client.query('ANALYZE')
    await look('with statistics', (statement) => scansOfPostgres(client, statement, true))
  }
  assert.deepEqual(faults, [], faults.join('\n\n'))
}
