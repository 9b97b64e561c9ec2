/** Lists of the registry, as jobs of accounts and `catalejo import` read them. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { localDateTime } from '../../src/lib/dates.ts'
import { countOf } from '../../src/lib/text.ts'
import { catalejoOn, importText } from '../support/cli.ts'
import { names, record, stored, update, wholeRecords } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/folder.ts'
import { call, type Fields } from '../support/http.ts'
import { imported } from '../support/jobs.ts'
import { ManualClock, startService } from '../support/service.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const folder = await temporaryFolder()
const clock = new ManualClock('2026-03-01T15:00:00Z')
const service = await startService({ clock })
after(async () => {
  await service[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

const shown = (at: number) => localDateTime(at, 'America/Santiago')
const now = () => shown(clock.now())

/** Imports a list by command. */
const import_ = (text: string, ...args: string[]) => importText(service, folder.path, text, args, clock)

const counted = (read: number, changed: number, messages: readonly string[] = [], code = 0) => ({
  code,
  stdout: `${countOf(read, 'record')}, ${changed} new or changed, 0 lines refused\n`,
  messages,
})

/** Imports a list over HTTP, which changes this number of records. */
async function load(text: string, changed: number, fields: Fields) {
  const job = await imported(service, text, fields)
  assert.equal(Number(job['new']) + Number(job['changed']), changed, JSON.stringify(job))
}
const free = (changed: number, listed: readonly string[], fields: Fields) =>
  load(lines(...listed), changed, { format: 'deletions', ...fields })
const register = (changed: number, rows: readonly Row[], source: string) =>
  load(registrations(...rows), changed, { format: 'registrations', source })

type Row = [name: string, date: string]
const lines = (...listed: readonly string[]) => listed.map((name) => `${name}.cl\n`).join('')
const registrations = (...rows: readonly Row[]) =>
  `Nombre,Fecha\n${rows.map(([name, date]) => `${name}.cl,${date}\n`).join('')}`

async function toRecord(name: string): Promise<Fields> {
  let found: Fields | undefined
  const fields = 'deleted_at,deleted_after,date_reg_known,seen'
  await eventually(async () => {
    ;[found] = await wholeRecords(service, { search: name, fields })
    return found !== undefined
  }, 'the record is listed')
  const { status, date_reg, deleted_at, deleted_after, date_reg_known, seen } = found ?? {}
  return { status, date_reg, deleted_at, deleted_after, date_reg_known, seen }
}

/** Resolves when the record is like that: lists may show what another process wrote a moment later. */
const becomes = (name: string, fields: Fields) =>
  eventually(async () => {
    assert.deepEqual(await toRecord(name), fields)
    return true
  }, `${name} is as expected`)

async function getHistory(name: string) {
  const query = { api: service.domainKey, domain: name }
  const { body } = await call(service, '/api/v1/domainwatch/history', { query })
  return Object(body).data.map(({ kind, from, to }: Fields) => ({ kind, from, to }))
}

test('a deletion frees a name once; a registration in its window keeps it bought', async () => {
  await stored(service, [record('uno'), record('dos', { date_reg: shown(clock.now() - 5 * DAY) })])
  const deletedAt = now()
  const after = shown(clock.now() - 8 * DAY)
  const week = { window: 'week' }
  await free(3, ['uno', 'dos', 'tres'], week)
  const freed = { status: 0, deleted_at: deletedAt, deleted_after: after, seen: 0 }
  await becomes('uno', { ...freed, date_reg: '2025-12-31 14:30:34', date_reg_known: 1 })
  await becomes('tres', { ...freed, date_reg: deletedAt, date_reg_known: 0 })
  const dos = { status: 1, deleted_at: null, deleted_after: null, seen: 0, date_reg_known: 1 }
  await becomes('dos', { ...dos, date_reg: shown(clock.now() - 5 * DAY) })
  assert.deepEqual((await getHistory('dos'))[0], {
    kind: 'dropped',
    from: { deleted_after: null, deleted_at: null },
    to: { deleted_after: after, deleted_at: deletedAt },
  })

  // Registered since, and still in the window.
  clock.advance(HOUR)
  const date = shown(clock.now() - 1_800_000)
  const registered: readonly Row[] = [
    ['uno', date],
    ['tres', '2020-01-01'],
  ]
  await register(2, registered, 'altas')
  await becomes('uno', { ...dos, date_reg: date })
  await becomes('tres', { ...freed, date_reg: '2020-01-01 23:59:59', date_reg_known: 1 })
  assert.deepEqual(await names(service, { status_from: now() }), ['uno'])
  await free(1, ['uno', 'dos', 'tres', 'otra'], week)
  await becomes('uno', { ...dos, date_reg: date })
  assert.equal((await getHistory('dos')).length, 2)
})

test('a list that is the same, or not later, changes nothing; a future time and the source of a feed are refused', async () => {
  clock.advance(DAY)
  const text = lines('igual', 'parte')
  const source = ['--source', 'repetida']
  assert.deepEqual(await import_(text, ...source), counted(2, 2))
  await update(service, [{ domain: 'igual', status: 1 }])
  clock.advance(60 * DAY)
  const same = 'the same as the last list of its source, so it changes nothing'
  assert.deepEqual(await import_(text, ...source), counted(2, 0, [same]))
  await becomes('igual', { ...(await toRecord('igual')), status: 1 })
  const older = 'not later than the last list of its source, so it changes nothing (--as-of, --source)'
  const before = ['--as-of', shown(clock.now() - 61 * DAY)]
  assert.deepEqual(await import_(lines('igual', 'vieja'), ...source, ...before), counted(2, 0, [older]))
  assert.deepEqual(await import_(text, '--as-of', shown(clock.now() + HOUR)), {
    code: 2,
    stdout: '',
    messages: ['catalejo: --as-of must be in the past'],
  })
  assert.equal((await import_(text, '--source', 'feed:altas')).code, 2)
})

test('what an incomplete list lacks is not absent: cut off, with few names, or empty', async () => {
  clock.advance(DAY)
  const names = Array.from({ length: 20 }, (_, i) => `parcial${i}`)
  const source = ['--source', 'parcial', '--window', 'day']
  assert.deepEqual(await import_(lines(...names), ...source), counted(20, 20))
  clock.advance(HOUR)
  const few =
    'under half of the names of the last list, so names that it lacks are not taken as absent (--force takes it as complete)'
  assert.deepEqual(await import_(lines(...names.slice(0, 9)), ...source), counted(9, 0, [few]))
  clock.advance(HOUR)
  const cut = 'its last line has no end and was dropped, and names that it lacks are not taken as absent'
  const part = lines(...names.slice(0, 15))
  assert.deepEqual(await import_(`${part}parci`, ...source), counted(15, 0, [cut]))
  clock.advance(HOUR)
  const empty = 'empty, unlike the last list of its source, so it changes nothing (--force imports it)'
  assert.deepEqual(await import_('', '--format', 'deletions', ...source), counted(0, 0, [empty]))
  clock.advance(HOUR)
  // None was deleted again.
  assert.deepEqual(await import_(lines(...names, 'otro'), ...source), counted(21, 1))
  clock.advance(HOUR)
  const forced = [...source, '--force']
  assert.deepEqual(await import_(lines('otro'), ...forced), counted(1, 0))
  clock.advance(2 * HOUR)
  const gone = await import_(lines(...names, 'otro'), ...source)
  assert.deepEqual(gone, counted(21, 20))
  clock.advance(2 * DAY)
  const gap = `the last complete list is older than the window: a gap from ${shown(clock.now() - 2 * DAY)} to ${now()}`
  // The first list that had one of them is older than the window.
  assert.deepEqual(await import_(lines('otro', 'nuevo'), ...source), counted(2, 2, [gap, few]))
})

test('dates are read in the time zone of the service, unless another one is named', async () => {
  clock.advance(DAY)
  const date = '2026-02-01 12:00:00'
  assert.deepEqual(await import_(registrations(['chilena', date]), '--source', 'zonas'), counted(1, 1))
  clock.advance(HOUR)
  const utc = ['--source', 'zonas', '--time-zone', 'UTC']
  assert.deepEqual(await import_(registrations(['utc', date]), ...utc), counted(1, 1))
  await becomes('chilena', { ...(await toRecord('chilena')), date_reg: date })
  await becomes('utc', { ...(await toRecord('utc')), date_reg: '2026-02-01 09:00:00' })
})

test('news of free names wait for a list of registrations that is not older, for 6 hours at most', async () => {
  clock.advance(DAY)
  await stored(service, [record('espera'), record('vuelve')])
  await using events = await EventReader.open(service, { api: service.domainKey })
  const next = async () => {
    const event = await events.next()
    const { record: is, before } = Object(event?.data)
    return [event?.event, is.name, before?.status ?? null, is.status]
  }
  const source = { source: 'noticias', window: 'day' }
  await free(4, ['espera', 'vuelve', 'nueva', 'perdida'], source)
  const date = now()
  clock.advance(HOUR)
  // Changes of members meanwhile are reported immediately.
  await update(service, [{ domain: 'espera', note: 'mía' }])
  assert.deepEqual(await next(), ['changed', 'espera', 0, 0])
  const registered: readonly Row[] = [
    ['vuelve', date],
    ['perdida', date],
  ]
  await register(2, registered, 'altas')
  const told = [await next(), await next(), await next(), await next()]
  assert.deepEqual(told.toSorted(byText), [
    ['added', 'nueva', null, 0],
    ['added', 'perdida', null, 1],
    ['changed', 'espera', 1, 0],
    ['changed', 'vuelve', 0, 1],
  ])

  clock.advance(HOUR)
  await free(1, ['espera', 'vuelve', 'nueva', 'sola'], source)
  clock.advance(6 * HOUR - 1_000)
  await stored(service, [record('antes')])
  assert.deepEqual(await next(), ['added', 'antes', null, 1])
  clock.advance(1_000)
  assert.deepEqual(await next(), ['added', 'sola', null, 0])
})

test('filters and statistics by registration leave out names whose registration is unknown', async () => {
  clock.advance(DAY)
  const day = now().slice(0, 10)
  const found = (filters: Fields) => names(service, { starts: 'incierta', ...filters })
  await free(1, ['incierta'], { source: 'inciertas' })
  await stored(service, [record('inciertazo', { date_reg: now() })])
  assert.deepEqual(await found({}), ['inciertazo', 'incierta'])
  assert.deepEqual(await found({ from: day, to: day }), ['inciertazo'])
  assert.deepEqual(await found({ deleted_from: day, deleted_to: day }), ['incierta'])
  const query = { api: service.domainKey, starts: 'incierta', from: day, to: day }
  const { body } = await call(service, '/api/v1/domainwatch/stats', { query })
  assert.equal(Object(body).totals.records, 1)
})

test('lists repair shows, and with --apply corrects, names that version 0.1.0 took as free', async () => {
  clock.advance(DAY)
  await stored(service, [record('enganada'), record('borrada'), record('comprada')])
  // As that version stored them.
  await service.sql(
    `UPDATE domains SET status = 0, released_at = '2026-01-01 00:00:00' WHERE name IN ('enganada', 'borrada')`,
  )
  await free(1, ['cierta'], { source: 'ciertas' })
  const path = join(folder.path, 'altas.csv')
  const date = '2025-12-31 14:30:34'
  const rows = ['enganada', 'comprada', 'cierta', 'nueva'].map((name): Row => [name, date])
  await writeFile(path, registrations(...rows))
  const repair = async (...args: string[]) =>
    (await catalejoOn(service, ['lists', 'repair', path, ...args])).stdout.trim().split('\n')
  const line = `enganada.cl: free since 2026-01-01 00:00:00, registered ${date}`
  assert.deepEqual(await repair(), [line, '1 record would be corrected (--apply corrects them)'])
  assert.deepEqual(await repair('--apply'), [line, '1 record corrected'])
  await becomes('enganada', {
    status: 1,
    date_reg: date,
    deleted_at: null,
    deleted_after: null,
    date_reg_known: 1,
    seen: 0,
  })
  assert.equal((await toRecord('borrada'))['status'], 0)
  assert.equal((await toRecord('cierta'))['status'], 0)
  assert.deepEqual(await repair(), ['0 records would be corrected (--apply corrects them)'])
})

const byText = (one: unknown, other: unknown) => (String(one) < String(other) ? -1 : 1)
