import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../src/storage/database/sql.ts'
import { LIST, names, record, records, stored } from '../support/domains.ts'
import { noPostgres, runOn } from '../support/engine.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'
import { mailFlags, startMailServer } from '../support/smtp.ts'
import { getWatches, watch, watchUntil } from '../support/watches.ts'
import { verify, WebhookReceiver } from '../support/webhook-receiver.ts'
import { NEWEST, oldPostgres, oldSqlite } from './released.ts'

const GET = '/api/v1/imagestore/get'
const HASH = 'abcdefghijklmnopqrstuvwxyz234567'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** An old database without a running service. */
interface Place {
  readonly run: (statement: string) => Promise<void>
  readonly start: (flags: Readonly<Record<string, string>>) => Promise<TestService>
}

/** Checks the data of a service on an old database, and that everything still works. */
async function assertAnswers(old: TestService): Promise<void> {
  assert.deepEqual(
    (await records(old)).map(({ name, agent, status, reserved, revision, discarded, date_mod }) =>
      [name, agent, status, reserved, revision, discarded, date_mod].join(' '),
    ),
    [
      'casa grupo 1 0 0 0 2026-01-01 09:00:00',
      'ñandú O\'Higgins \\ "Ñ" 1 1 0 0 2026-01-01 09:00:00',
      'libre grupo 0 0 0 0 2026-01-01 09:00:00',
      'revisado Ana 1 0 1 0 2026-01-01 10:00:00',
      'descartado grupo 1 0 0 1 2026-01-01 10:00:00',
      'soltado grupo 0 0 0 0 2026-01-01 10:00:00',
      'anotado grupo 0 0 1 0 2020-01-03 09:00:00',
    ],
  )
  const { body } = await call(old, LIST, {
    query: { api: old.domainKey, search: 'anotado', fields: 'seen_by,note,tags' },
  })
  assert.deepEqual(
    Object(body).data[0].map((one: object) => Object.values(one).slice(-3)),
    [['grupo', 'Llamar al dueño', ['casa', 'venta']]],
  )
  const watches = (await getWatches(old)).map(({ name }) => String(name))
  assert.deepEqual(watches.toSorted(), ['Antigua', 'Antigua', 'casas'])
  assert.deepEqual(await names(old, { last_deleted: 1 }), ['soltado'])
  assert.deepEqual(await names(old, { search: 'xn--and-6ma2c' }), ['ñandú'])
  assert.equal((await call(old, LIST, { query: { api: 'clave-revocada' } })).status, 401)
  for (const [api, name] of Object.entries({
    'clave-de-fotos': 'Paisaje ñ.png',
    'clave-de-otras': 'otra.png',
  })) {
    const { body } = await call(old, GET, { query: { api, hash: HASH } })
    const date = name === 'otra.png' ? 1_767_225_601 : 1_767_225_600
    assert.deepEqual(body, {
      status: 200,
      name,
      hash: HASH,
      mime: 'image/png',
      width: 20,
      height: 10,
      size: 1234,
      date,
      thumbhash: null,
      expires: null,
      color: null,
      dark: null,
      tags: [],
      meta: {},
      focus: null,
      public: 1,
      link: `${old.url}/i/${HASH}`,
    })
  }
  await stored(old, [record('casa', { status: 0 }), record('nuevo')])
  assert.ok((await names(old)).includes('nuevo'))
  const { database } = old.app.context
  // On PostgreSQL the log ends before the first transaction that runs.
  const logged = async () => {
    const page = await database.changes.since(await database.changes.start(), 1_000)
    assert.ok(page.kind === 'page')
    return page.changes
  }
  await eventually(async () => (await logged()).some(({ key, kind }) => key === 'casa' && kind === 'changed'))
  // Neither other records nor changes from before say that anyone has seen them.
  const decision = [null, null, null, null]
  assert.deepEqual(
    await database.values(
      sql`SELECT DISTINCT seen_at, seen_by, note, tags FROM domains WHERE name <> 'anotado'`,
    ),
    [decision],
  )
  for (const { key, after, topic } of await logged()) {
    if (topic === 'domain' && key !== 'anotado' && after !== null)
      assert.deepEqual([after['seen_at'], after['seen_by'], after['note'], after['tags']], decision)
  }
}

/** A watch of schema 22 with a webhook, as its own statements stored it, and a delivery that has failed once. */
const webhookWatch = (id: string, url: string) => `
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, language, secret, deliveries)
  SELECT '${id}', min(id), 'Antigua', '{"search":"aviso"}', 'new', 1, 'active', 'es', '${SECRET}', 1
  FROM accounts WHERE service = 'domainwatch';
  INSERT INTO watch_destinations (id, watch_id, position, channel, address, state, cursor, delivery_id, delivery_body,
    delivery_cursor, attempts, next_at, delivered_at, last_error, last_error_at)
  SELECT '${id}-1', '${id}', 1, 'webhook', '${url}', 'active', epoch || '-0', 'msg_${id}', '{"type":"domains.changed"}',
    epoch || '-' || (SELECT COALESCE(max(id), 0) FROM changes), 1, 5, 3, 'El receptor respondió 500', 4 FROM change_log`

/** The delivery in progress is continued with its id and body, and later changes follow. */
async function assertWebhookContinues(
  old: TestService,
  id: string,
  receiver: WebhookReceiver,
): Promise<void> {
  const shown = (await getWatches(old)).find((one) => one['id'] === id)
  const expected = { name: 'Antigua', filters: { search: 'aviso' }, url: receiver.url, atom: 0 }
  assert.partialDeepStrictEqual(shown, expected)
  await receiver.until(1)
  await watchUntil(old, id, ({ pending, last_error }) => pending === 0 && last_error === null)
  await stored(old, [record(`aviso-${id}`)])
  await receiver.until(2)
  const [first, second] = receiver.received
  assert.ok(first !== undefined && second !== undefined)
  assert.deepEqual([first.id, first.text], [`msg_${id}`, '{"type":"domains.changed"}'])
  for (const one of [first, second]) verify(SECRET, one)
  assert.equal(Object(second.body.data).changes[0].record.name, `aviso-${id}`)
}

/** A watch of schema 22 with a mail address, as its own statements stored it. */
const MAIL_WATCH = `
  INSERT INTO watches (id, account_id, name, filters, changes, created_at, state, language)
  SELECT 'correo', min(id), 'Antigua', '{"search":"aviso"}', 'new', 1, 'active', 'es' FROM accounts WHERE service = 'domainwatch';
  INSERT INTO watch_destinations (id, watch_id, position, channel, address, state, cursor)
  SELECT 'destino', 'correo', 1, 'mailto', 'Ana@Example.cl', 'active',
    epoch || '-' || (SELECT COALESCE(max(id), 0) FROM changes) FROM change_log`

/** Observations of schema 22: past and present answers, a name that does not exist, one without records, a null MX. */
const OBSERVATIONS = `
  INSERT INTO name_servers (name, first_at, last_at, servers) VALUES
    ('casa', 1, 2, '["NS1.Viejo.example","ns2.viejo.example"]'), ('casa', 3, 4, '["ns1.nuevo.example","ns2.viejo.example"]'),
    ('libre', 1, 2, '["ns1.viejo.example"]'), ('libre', 3, 4, NULL), ('revisado', 1, 2, '[]');
  INSERT INTO mail_servers (name, first_at, last_at, servers) VALUES
    ('casa', 1, 2, '[{"preference":10,"exchange":"Mail.example"},{"preference":20,"exchange":"mail.example"}]'),
    ('libre', 1, 2, '[{"preference":0,"exchange":"."}]'), ('revisado', 1, 2, '[{"preference":5,"exchange":"mail.example"}]')`

/** Names are found by all servers that they were ever seen with. */
async function assertFoundByServers(old: TestService): Promise<void> {
  const found = (query: { ns: string } | { mx: string }) =>
    names(old, { ...query, order: 'name', sort: 'asc' })
  assert.deepEqual(await found({ ns: 'ns1.viejo.example' }), ['casa', 'libre'])
  assert.deepEqual(await found({ ns: 'ns2.viejo.example' }), ['casa'])
  assert.deepEqual(await found({ ns: 'ns1.nuevo.example' }), ['casa'])
  assert.deepEqual(await found({ mx: 'mail.example' }), ['casa', 'revisado'])
  assert.deepEqual(await found({ ns: 'mail.example' }), [])
}

async function assertServed({ run, start }: Place): Promise<void> {
  using receiver = await WebhookReceiver.start()
  await using server = await startMailServer('loopback', true)
  await run(`${webhookWatch('vieja', receiver.url)}; ${MAIL_WATCH}; ${OBSERVATIONS}`)
  const old = await start({ ...mailFlags(server), 'webhook-networks': '127.0.0.0/8' })
  await assertAnswers(old)
  await assertFoundByServers(old)
  await assertWebhookContinues(old, 'vieja', receiver)
  // The address of the watch gets mails without being asked, a new one is asked.
  const shown = (await getWatches(old)).find(({ id }) => id === 'correo')
  const destinations = [{ to: 'mailto:Ana@Example.cl', confirmed: 1, last_error: null }]
  assert.partialDeepStrictEqual(shown, { destinations })
  await eventually(() => server.mails.length === 1)
  assert.match(server.mails[0]?.text ?? '', /aviso-vieja\.cl/)
  await watch(old, { to: 'mailto:ana@example.cl,mailto:nueva@example.cl' })
  await eventually(() => server.mails.length === 2)
  assert.equal(server.mails[1]?.subject, 'Confirme su dirección de correo')
  await old.stop()
}

describe('the service on a database of a released version', { timeout: 300_000 }, () => {
  const onPlace = async (data: string, databaseUrl: string) =>
    assertServed({
      run: (statement) => runOn(databaseUrl, data, statement),
      start: async (flags) => {
        const common = { 'database-url': databaseUrl, 'blobs-url': '' }
        const service = await startService({ data, flags: { ...common, ...flags } })
        return { ...service, domainKey: 'clave-del-grupo' }
      },
    })

  test('on SQLite', async () => {
    await using folder = await temporaryFolder()
    await oldSqlite(NEWEST, folder.path)
    await onPlace(folder.path, '')
  })

  test('on PostgreSQL', { skip: noPostgres }, async () => {
    await using folder = await temporaryFolder()
    await using database = await oldPostgres(NEWEST)
    await onPlace(folder.path, database.url)
  })
})
