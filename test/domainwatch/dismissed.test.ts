/** Names whose discarded records were removed: decisions outlive records. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { localDateTime } from '../../src/lib/dates.ts'
import { catalejoOn } from '../support/cli.ts'
import { names, record, stored, storedNames, update, updateNames, wholeRecords } from '../support/domains.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call, nextQuery, send, type Fields } from '../support/http.ts'
import { imported } from '../support/jobs.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const DISMISSED = '/api/v1/domainwatch/dismissed'
const HOUR = 3_600_000
const DAY = 24 * HOUR
const HEAD =
  'name,dismissed_by,dismissed_at,status,date_reg,date_reg_known,deleted_at,deleted_after,past_drops'

const folder = await temporaryFolder()
const clock = new ManualClock('2026-03-01T15:00:00Z')
const service = await startService({ clock })
after(async () => {
  await service[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})
const ana = (await service.newKey('ana', 'domainwatch')).key

const shown = (at: number) => localDateTime(at, 'America/Santiago')
const now = () => shown(clock.now())

const command = (args: readonly string[], on: TestService = service) => catalejoOn(on, args, clock)

/** Imports a list. @returns the number of records that are new or changed */
async function load(text: string, fields: Fields) {
  const job = await imported(service, text, fields)
  return Number(job['new']) + Number(job['changed'])
}
const registered = (name: string, date: string) =>
  load(`Nombre,Fecha\n${name}.cl,${date}\n`, { format: 'registrations' })
const deletions = (...listed: string[]) =>
  load(listed.map((name) => `${name}.cl\n`).join(''), { format: 'deletions', window: 'day' })

async function dismissed(query: Fields = {}) {
  const reply = await call(service, DISMISSED, { query: { api: service.domainKey, ...query } })
  const { status, count, data } = Object(reply.body)
  assert.deepEqual([status, count], [200, data.length])
  return { data, next: nextQuery(service, DISMISSED, reply) }
}

const toNames = (data: readonly { readonly name: string }[]) => data.map(({ name }) => name)

/** Discards records as Ana, and removes them. */
async function dismiss(...domains: string[]): Promise<void> {
  for (const domain of domains) {
    await update(service, [{ domain, discarded: 1 }], { key: ana })
    clock.advance(1_000)
  }
  clock.advance(7 * DAY)
  await removeExpired()
}

/** Any write removes what has expired. */
const removeExpired = () => stored(service, [record('queda', { reserve: clock.now() % 2 })])

async function getDismissal(search: string): Promise<Fields> {
  const [found] = await wholeRecords(service, { search, fields: 'dismissed_by,dismissed_at' })
  return {
    status: found?.['status'],
    dismissed_by: found?.['dismissed_by'],
    dismissed_at: found?.['dismissed_at'],
  }
}

test('a removed discarded record leaves its name, by whom, and what was known of it', async () => {
  await deletions('libre')
  const deletedAt = now()
  await stored(service, [record('comprada'), record('perdonada')])
  await update(service, [{ domain: 'perdonada', discarded: 1 }])
  const at = [now(), shown(clock.now() + 1_000)]
  await update(service, [{ domain: 'comprada', discarded: 1 }], { key: ana })
  clock.advance(1_000)
  await update(service, [{ domain: 'libre', discarded: 1 }], { key: ana })
  clock.advance(DAY)
  await update(service, [{ domain: 'perdonada', discarded: 0 }])
  assert.deepEqual((await dismissed()).data, [])
  clock.advance(6 * DAY)
  await removeExpired()
  const comprada = {
    name: 'comprada',
    dismissed_by: 'ana',
    dismissed_at: at[0],
    status: 1,
    date_reg: '2025-12-31 14:30:34',
    date_reg_known: 1,
    deleted_at: null,
  }
  const libre = {
    ...comprada,
    name: 'libre',
    dismissed_at: at[1],
    status: 0,
    date_reg: deletedAt,
    date_reg_known: 0,
    deleted_at: deletedAt,
  }
  assert.deepEqual((await dismissed()).data, [libre, comprada])
  assert.deepEqual((await dismissed({ search: 'PRAD.cl com' })).data, [comprada])
  assert.deepEqual((await dismissed({ search: 'otra' })).data, [])
})

test('a list records a dismissed name again only for a newer fact, and says who dismissed it', async () => {
  const since = clock.now() - 20 * DAY
  await stored(service, [record('vuelve', { date_reg: shown(since) }), record('cae'), record('sumada')])
  const by = { dismissed_by: 'ana', dismissed_at: now() }
  await dismiss('vuelve', 'cae', 'sumada')
  assert.equal(await registered('vuelve', shown(since)), 0)
  clock.advance(HOUR)
  assert.equal(await registered('vuelve', shown(clock.now() - HOUR)), 1)
  assert.deepEqual(await getDismissal('vuelve'), { status: 1, ...by })
  assert.equal(await deletions('cae', 'libre'), 2)
  assert.equal(Object(await getDismissal('cae')).status, 0)
  await stored(service, [record('sumada')])
  assert.equal(Object(await getDismissal('sumada')).dismissed_by, 'ana')
  assert.deepEqual(toNames((await dismissed()).data), ['comprada'])
})

test('a dismissed name that a member adds as registered stays so until lists show a later deletion', async () => {
  const listed = (...others: string[]) =>
    load(['repuesta', ...others].map((name) => `${name}.cl\n`).join(''), {
      format: 'deletions',
      window: 'month',
    })
  const status = async () => (await wholeRecords(service, { search: 'repuesta' }))[0]?.['status']
  await listed()
  await dismiss('repuesta')
  await stored(service, [record('repuesta', { date_reg: '2020-01-01 00:00:00' })])
  clock.advance(HOUR)
  await listed('enseguida')
  assert.equal(await status(), 1)
  // Its earliest deletion, a month and a day before the list, is now after the first list.
  clock.advance(32 * DAY)
  await listed('despues')
  assert.equal(await status(), 0)
})

test('pages of dismissed names neither skip nor repeat any', async () => {
  const many = ['uno', 'dos', 'tres', 'cuatro', 'cinco'].map((name) => `pagina-${name}`)
  await storedNames(service, many)
  // Four of them at the same time.
  await updateNames(service, many.slice(1), { discarded: 1 }, { key: ana })
  await dismiss(many[0] ?? '')
  const found: string[] = []
  let query: Fields | undefined = { search: 'pagina', limit: 2 }
  while (query !== undefined) {
    const { data, next } = await dismissed(query)
    found.push(...toNames(data))
    query = next
  }
  assert.deepEqual(found, ['pagina-uno', 'pagina-tres', 'pagina-dos', 'pagina-cuatro', 'pagina-cinco'])
  const { status, body } = await call(service, DISMISSED, { query: { api: ana, cursor: 'x' } })
  assert.deepEqual(
    [status, Object(body).msg],
    [400, 'El parámetro cursor debe ser el de la cabecera Link de la página anterior'],
  )
})

test('a forgotten name is recorded by the next list that has it', async () => {
  const date = '2026-02-02 02:02:02'
  await stored(service, [record('olvidada', { date_reg: date })])
  await dismiss('olvidada')
  assert.equal(await registered('olvidada', date), 0)
  const forget = (data: unknown) =>
    send(service, DISMISSED, { data }, { method: 'DELETE', query: { api: ana } })
  assert.deepEqual((await forget(['olvidada', 'ninguna'])).body, { status: 200, count: 1 })
  assert.deepEqual((await forget(['olvidada'])).body, { status: 200, count: 0 })
  assert.deepEqual((await dismissed({ search: 'olvidada' })).data, [])
  clock.advance(HOUR)
  assert.equal(await load(`Nombre,Fecha\notra,${date}\nolvidada,${date}\n`, {}), 2)
  assert.deepEqual(await getDismissal('olvidada'), { status: 1, dismissed_by: null, dismissed_at: null })
  const refused = {
    data: 'debe ser un arreglo de nombres de dominio .cl válidos, sin el sufijo, 1000 como máximo',
  }
  const { status, body } = await forget(['con.punto'])
  assert.deepEqual([status, Object(body).msg], [400, `El parámetro data ${refused.data}`])
  const { status: missing } = await call(service, DISMISSED, { method: 'DELETE', query: { api: ana } })
  assert.equal(missing, 400)
})

test('dismissed names are listed, imported into another instance, and forgotten by command', async () => {
  await stored(service, [record('ñandú'), record('llevada', { date_reg: '2026-01-01 00:00:00' })])
  await dismiss('ñandú', 'llevada')
  const at = new Date(clock.now() - 7 * DAY - 1_000).toISOString()
  const line = `llevada,ana,${at},1,2026-01-01 00:00:00,1,,,0`
  const { stdout: listed } = await command(['dismissed', 'list', '--search', 'llevada'])
  assert.equal(listed, `${HEAD}\r\n${line}\r\n`)

  await using other = await startService({ clock })
  await stored(other, [record('ñandú')])
  const whole = async (on = service) => (await command(['dismissed', 'list'], on)).stdout
  const path = join(folder.path, 'dismissed.csv')
  await writeFile(path, await whole())
  const again = await command(['import', '--account', 'grupo', '--dry-run', path])
  const unchanged = '8 records, 0 would be new, 0 would change, 8 would stay, 0 lines refused'
  assert.equal(again.stdout, `${path}: ${unchanged}\n`)
  for (const [args, changed] of [
    [[], 7],
    [['--restart'], 0],
  ] as const) {
    const { stdout } = await command(['import', ...args, path], other)
    assert.equal(stdout, `${path}: 8 records, ${changed} new or changed, 0 lines refused\n`)
  }
  const lines = (text: string) => text.split('\r\n').filter((row) => !row.startsWith('ñandú'))
  assert.deepEqual(lines(await whole(other)), lines(await whole()))
  assert.deepEqual(await names(other), ['ñandú'])

  const { stdout } = await command(['dismissed', 'forget', 'llevada.cl', 'xn--and-6ma2c', 'nadie'])
  assert.equal(stdout, '2 forgotten\n')
  assert.deepEqual((await dismissed({ search: 'llevada' })).data, [])
  const { code, messages } = await command(['dismissed', 'forget', 'no válida'])
  assert.deepEqual([code, messages], [2, ['catalejo: not a .cl name: no válida']])
})

test('a line of dismissed names that is not valid is refused, with its reason', async () => {
  const good = ['rota', 'ana', '2026-01-01T00:00:00.000Z', '1', '2026-01-01 00:00:00', '1', '', '', '0']
  const wrong = ['no válida', ' ', 'ayer', '2', 'ayer', '2', 'ayer', 'ayer', 'x']
  const lines = wrong.map((value, i) => good.with(i, value).join(','))
  const path = join(folder.path, 'rotas.csv')
  await writeFile(path, [HEAD, ...lines].join('\n'))
  const { code, stdout } = await command(['import', '--account', 'grupo', path])
  assert.deepEqual([code, stdout], [1, `${path}: 0 records, 0 new or changed, 9 lines refused\n`])
})
