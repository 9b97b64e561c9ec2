// Measures `list?search=` over many names, with 8 clients and the server on one core. Compares with Directus and
// PostGraphile over the same records, and with SQLite in process: LIKE over the same table, and rows with
// `JSON.stringify`. `--records` sets the number of records. The environment variable `PREPARED` names a data folder
// that is kept and reused. Next to each p99 is that of a bare `node:http` server with a response as large as that of
// the first row, measured immediately before, which shows the state of the machine.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startBare } from './lib/bare-server.ts'
import { addAll } from './lib/domains.ts'
import { load } from './lib/load.ts'
import { whileStill } from './lib/machine.ts'
import { toRecords } from './lib/names.ts'
import { RECORDS, SECONDS } from './lib/options.ts'
import { startSearchPeers } from './lib/search-peers.ts'
import type { Server } from './lib/server.ts'
import { metric, searchReady, startService, untilAtRest, type Keys } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const PREPARED = process.env['PREPARED']
const CLIENTS = 8
const LIMITS = [100, 1_024] as const
/** Node optimizes hot code only after some ten thousand runs, on the core of the measured process. */
const WARM_UP_SECONDS = 1
const PATTERNS: readonly (readonly [name: string, query: Readonly<Record<string, string>>])[] = [
  ['newest', {}],
  ['1 character, common', { search: 'a' }],
  ['1 character, rare', { search: 'w' }],
  ['2, common', { search: 'ca' }],
  ['2, rare', { search: 'qx' }],
  ['3, common', { search: 'cas' }],
  ['3, absent', { search: 'xqz' }],
  ['4, common', { search: 'casa' }],
  ['4, absent', { search: 'zzzz' }],
  ['6, common', { search: 'ventas' }],
  ['6, rare', { search: 'santia' }],
  ['10, rare', { search: 'consultora' }],
  ['10, absent', { search: 'laranterar' }],
  ['with filters', { search: 'casa', length: '9', digits: '1', status: '1' }],
  ['rare filters', { search: 'a', length: '17', status: '0', reserve: '' }],
  ['beginning and end', { starts: 'li', ends: 'ma' }],
  ['pattern', { pattern: '*ca*lo*7' }],
  ['last_deleted', { search: 'ca', last_deleted: '100' }],
]

await withWorkspace(async (workspace) => {
  const records = toRecords(RECORDS)
  const known = PREPARED === undefined ? undefined : join(PREPARED, 'keys.json')
  let existing: { readonly data: string; readonly keys: Keys } | undefined
  if (PREPARED !== undefined && known !== undefined && existsSync(known)) {
    existing = { data: PREPARED, keys: JSON.parse(readFileSync(known, 'utf8')) }
  } else {
    const first = await startService(workspace, {
      core: 'any',
      ...(PREPARED === undefined ? {} : { flags: ['--data', PREPARED] }),
    })
    await addAll(first, records)
    await first.stop()
    existing = { data: PREPARED ?? first.data, keys: first.keys }
    if (known !== undefined) writeFileSync(known, JSON.stringify(first.keys))
  }

  const began = performance.now()
  const service = await startService(workspace, { existing })
  await searchReady(service)
  const readyAfter = (performance.now() - began) / 1000
  await untilAtRest(service)
  const count = await metric(service, 'catalejo_search_names')
  const bytes = await metric(service, 'catalejo_search_bytes')
  console.log(
    `${count} names: ready ${readyAfter.toFixed(1)} s after the start of the process ` +
      `(${(await metric(service, 'catalejo_search_load_seconds')).toFixed(1)} s of loading), ${(bytes / count).toFixed(0)} bytes per name\n`,
  )

  const { peers, pids } = await startSearchPeers(workspace, records)
  const db = new DatabaseSync(join(existing.data, 'catalejo.db'), { readOnly: true })
  db.exec('PRAGMA cache_size = -65536; PRAGMA mmap_size = 268435456')
  const rows = stringifyRate(db)
  console.log(`Rows and JSON.stringify of 1,024 records, in process: ${rows.toFixed(0)} per second\n`)
  const pageOf = (query: Readonly<Record<string, string>>, limit: number) =>
    service.endpoint('domainwatch/list', { ...query, limit: String(limit) })
  const measure = (server: Server, url: string, seconds = SECONDS) =>
    load({ server, url, connections: CLIENTS }, seconds)
  const floors = new Map<number, Server>()
  for (const limit of LIMITS) {
    const body = await (await fetch(pageOf({}, limit))).arrayBuffer()
    floors.set(limit, await startBare(workspace, body.byteLength))
  }
  await whileStill(pids, async () => {
    for (const server of floors.values()) await measure(server, server.url, WARM_UP_SECONDS)
    for (const [, query] of PATTERNS)
      for (const limit of LIMITS) await measure(service, pageOf(query, limit), WARM_UP_SECONDS)
  })
  const head = ['', 'records']
  for (const limit of LIMITS) head.push(`${limit} per page: per second`, 'p99', 'bare `node:http`: p99')
  head.push('ratio to rows and `JSON.stringify`', 'LIKE in process, 100: per second')
  for (const { name, target } of peers) head.push(`${name}, 100: per second`, `ratio (target: ${target})`)
  console.log(`| ${head.join(' | ')} |\n|${'---|'.repeat(head.length)}`)
  for (const [name, query] of PATTERNS) {
    const listed = Number(/"count":(\d+)/.exec(await (await fetch(pageOf(query, 1_024))).text())?.[1])
    const cells = [name, listed]
    const rates: number[] = []
    for (const limit of LIMITS) {
      const floor = floors.get(limit)
      const { bare, ours } = await whileStill(pids, async () => ({
        bare: floor && (await measure(floor, floor.url)),
        ours: await measure(service, pageOf(query, limit)),
      }))
      rates.push(ours.perSecond)
      cells.push(ours.perSecond.toFixed(0), `${ours.p99Ms.toFixed(1)} ms`, `${bare?.p99Ms.toFixed(1)} ms`)
    }
    const [few = NaN, many = NaN] = rates
    const { search } = query
    const isPlain = Object.keys(query).every((parameter) => parameter === 'search')
    cells.push(listed === 1_024 ? (many / rows).toFixed(1) : '')
    cells.push(isPlain && search !== undefined ? likeRate(db, search).toFixed(0) : '')
    for (const peer of peers) {
      if (!isPlain) cells.push('', '')
      else {
        const { perSecond, count: got } = await whileStill([service.pid], () => peer.measure(search))
        if (got !== Math.min(listed, 100)) throw new Error(`${peer.name}: ${got} records for ${name}`)
        cells.push(perSecond.toPrecision(3), (few / perSecond).toFixed(1))
      }
    }
    console.log(`| ${cells.join(' | ')} |`)
  }
  db.close()
})

function likeRate(db: DatabaseSync, text: string): number {
  const statement = db.prepare(
    `SELECT name, length, agent, status, reserved, revision, date_reg, date_mod FROM domains WHERE name LIKE ?
     ORDER BY date_reg DESC, name DESC LIMIT 100`,
  )
  return rate(() => JSON.stringify(statement.all(`%${text}%`)))
}

function stringifyRate(db: DatabaseSync): number {
  const statement = db.prepare(
    `SELECT name, length, agent, status, reserved, revision, discarded_at IS NOT NULL AS discarded, date_reg, date_mod
     FROM domains ORDER BY date_reg DESC, name DESC LIMIT 1024`,
  )
  return rate(() => JSON.stringify({ status: 200, count: 1024, query: '', data: [statement.all()] }))
}

function rate(work: () => unknown): number {
  const start = performance.now()
  let done = 0
  do {
    work()
    done++
  } while (performance.now() - start < 500)
  return (done * 1000) / (performance.now() - start)
}
