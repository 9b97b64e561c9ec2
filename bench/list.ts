// Measures a full page of `list` over HTTP. The floor reads and serialises the same rows in process.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compare, repeat } from './lib/compare.ts'
import { addAll, generateDomains } from './lib/domains.ts'
import { load } from './lib/load.ts'
import { SECONDS } from './lib/options.ts'
import { startService } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const ROWS = 110_000
const PAGE = 1_024
const COLUMNS = `name, length, agent, status, reserved, revision, discarded_at IS NOT NULL AS discarded, date_reg,
  date_mod`
const NEWEST = `SELECT ${COLUMNS} FROM domains ORDER BY date_reg DESC, name DESC LIMIT ${PAGE}`
const IN_SQL = `SELECT json_group_array(json_object('name', name, 'length', length, 'agent', agent, 'status', status,
  'reserved', reserved, 'revision', revision, 'discarded', discarded, 'date_reg', date_reg, 'date_mod', date_mod))
  AS json FROM (${NEWEST})`

await withWorkspace(async (workspace) => {
  const service = await startService(workspace)
  await addAll(service, generateDomains(ROWS))
  const db = new DatabaseSync(join(service.data, 'catalejo.db'), { readOnly: true })
  db.exec('PRAGMA cache_size = -65536; PRAGMA mmap_size = 268435456')
  const rows = db.prepare(NEWEST)
  const inSql = db.prepare(IN_SQL)
  const url = service.endpoint('domainwatch/list')
  const searchUrl = service.endpoint('domainwatch/list', { search: 'ca' })
  const floor = 'SQLite rows and `JSON.stringify`, in process'

  const inProcess = () =>
    Buffer.from(JSON.stringify({ status: 200, count: PAGE, query: '', data: [rows.all()] }))
  const answer = Buffer.from(await (await fetch(url)).arrayBuffer())
  if (!answer.equals(inProcess())) throw new Error('the floor and the service return different records')

  await compare(`\`list\` of ${PAGE} records`, [
    { name: floor, run: () => repeat(SECONDS, () => void inProcess()) },
    {
      name: 'JSON made by SQLite, in process',
      floor,
      run: () => repeat(SECONDS, () => void Buffer.from(String(inSql.get()?.['json']))),
    },
    {
      name: '`list` over HTTP',
      floor,
      target: 1,
      run: () => load({ server: service, url, connections: 4 }),
    },
    {
      name: '`list?search=ca` over HTTP',
      floor,
      run: () => load({ server: service, url: searchUrl, connections: 4 }),
    },
  ])
  db.close()
})
