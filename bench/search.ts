// `list?search=` over many names, 8 clients on one core, beside SQLite's own ways: LIKE over the same table, and rows with
// `JSON.stringify`. Then readers beside a writer, and how long the index takes. `--records` is how many; `REAL_NAMES` a file
// with one name a line that come first, `PREPARED` a folder that is kept and used again.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { addAll, generateDomains, type DomainRecord } from './lib/domains.ts'
import { CLIENT_CORE, cpuSeconds, pinned } from './lib/machine.ts'
import { RECORDS, SECONDS } from './lib/options.ts'
import { startService, type Keys, type Service } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const run = promisify(execFile)
const PREPARED = process.env['PREPARED']
const MAX_SETTLING_S = 60
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
  const known = PREPARED === undefined ? undefined : join(PREPARED, 'keys.json')
  let existing: { readonly data: string; readonly keys: Keys } | undefined
  if (PREPARED !== undefined && known !== undefined && existsSync(known)) {
    existing = { data: PREPARED, keys: JSON.parse(readFileSync(known, 'utf8')) }
  } else {
    const first = await startService(workspace, {
      core: 'any',
      ...(PREPARED === undefined ? {} : { flags: ['--data', PREPARED] }),
    })
    await addAll(first, names())
    await first.stop()
    existing = { data: PREPARED ?? first.data, keys: first.keys }
    if (known !== undefined) writeFileSync(known, JSON.stringify(first.keys))
  }

  const began = performance.now()
  const service = await startService(workspace, { existing })
  while ((await metric(service, 'catalejo_search_ready')) !== 1) await sleep(20)
  const readyAfter = (performance.now() - began) / 1000
  await settled(service)
  const count = await metric(service, 'catalejo_search_names')
  const bytes = await metric(service, 'catalejo_search_bytes')
  console.log(
    `${count} names: ready ${readyAfter.toFixed(1)} s after the start of the process ` +
      `(${(await metric(service, 'catalejo_search_load_seconds')).toFixed(1)} s of reading), ${(bytes / count).toFixed(0)} bytes a name\n`,
  )

  const db = new DatabaseSync(join(existing.data, 'catalejo.db'), { readOnly: true })
  db.exec('PRAGMA cache_size = -65536; PRAGMA mmap_size = 268435456')
  console.log(
    '| | records | 100 a page: a second | p99 | 1,024 a page: a second | p99 | LIKE in process, 100: a second |',
  )
  console.log('|---|---|---|---|---|---|---|')
  for (const [name, query] of PATTERNS) {
    const page = (limit: number) =>
      wrk(service.endpoint('domainwatch/list', { ...query, limit: String(limit) }), 8)
    const few = await page(100)
    const many = await page(1_024)
    const listed = await (
      await fetch(service.endpoint('domainwatch/list', { ...query, limit: '1024' }))
    ).text()
    const records = /"count":(\d+)/.exec(listed)?.[1]
    const search = query['search']
    const like =
      Object.keys(query).length === 1 && search !== undefined ? likeRate(db, search).toFixed(0) : ''
    console.log(
      `| ${name} | ${records} | ${few.rate} | ${few.p99} ms | ${many.rate} | ${many.p99} ms | ${like} |`,
    )
  }
  console.log(
    `\nRows and JSON.stringify of 1,024 records, in process: ${stringifyRate(db).toFixed(0)} a second`,
  )
  db.close()

  const url = service.endpoint('domainwatch/list', { search: 'casa', limit: '100' })
  const idle = await wrk(url, 16)
  let stop = false
  let calls = 0
  const writer = (async () => {
    for (let at = 0; !stop; at += 50_000, calls++) await addAll(service, batch(at))
  })()
  const busy = await wrk(url, 16, 10)
  stop = true
  await writer
  console.log(
    `\n16 readers: idle p99 ${idle.p99} ms; while a writer adds 50,000 a call (${calls} calls) p99 ${busy.p99} ms`,
  )
})

/** Until the service has nothing to do: parts of the index are merged after it is ready. */
async function settled({ pid }: Service): Promise<void> {
  for (let i = 0; i < MAX_SETTLING_S; i++) {
    const before = cpuSeconds(pid) ?? 0
    await sleep(1_000)
    if ((cpuSeconds(pid) ?? 0) - before < 0.05) return
  }
  throw new Error('the service does not come to rest')
}

function names(): DomainRecord[] {
  const file = process.env['REAL_NAMES']
  const real = file === undefined ? [] : readFileSync(file, 'utf8').trim().split('\n')
  const records = generateDomains(Math.max(1, RECORDS))
  const used = new Set(real)
  const others = records.filter(({ domain }) => !used.has(domain))
  return [
    ...real.slice(0, RECORDS).map((domain, i) => ({ ...dated(records, i), domain, length: domain.length })),
    ...others.slice(0, Math.max(0, RECORDS - real.length)),
  ]
}

/** The fields beside the name of the generated record at this place. */
function dated(records: readonly DomainRecord[], i: number): Omit<DomainRecord, 'domain' | 'length'> {
  return records[i] ?? { reserve: 0, status: 1, date_reg: '2026-01-01 00:00:00' }
}

function batch(from: number): DomainRecord[] {
  return Array.from({ length: 50_000 }, (_, i) => {
    const domain = `nuevo${from + i}`
    return { domain, length: domain.length, reserve: 0, status: 1, date_reg: '2026-01-01 00:00:00' }
  })
}

async function metric(service: Service, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? 0)
}

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

async function wrk(url: string, connections: number, seconds = SECONDS) {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', url]
  const { command, args } = pinned(CLIENT_CORE, 'wrk', options)
  return measured((await run(command, args)).stdout)
}

function measured(text: string) {
  const [, value = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(text) ?? []
  const p99 = Number(value) * ({ us: 0.001, ms: 1, s: 1_000 }[unit] ?? NaN)
  if (/Non-2xx/.test(text)) throw new Error(text)
  return { rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? NaN).toFixed(0), p99: p99.toFixed(1) }
}
