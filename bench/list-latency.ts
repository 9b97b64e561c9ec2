// Measures the p99 latency of sixteen readers of `list` while a writer adds 50,000 records per call, compared with
// the same readers without a writer. `--records` sets the number of records, `--rounds` the number of idle and busy
// turns.
import { addAll, type DomainRecord } from './lib/domains.ts'
import { median } from './lib/compare.ts'
import { load, type Loaded } from './lib/load.ts'
import { toRecords } from './lib/names.ts'
import { RECORDS, ROUNDS } from './lib/options.ts'
import { searchReady, startService, untilAtRest } from './lib/service.ts'
import { withWorkspace } from './lib/workspace.ts'

const READERS = 16
const IDLE_S = 5
/** Long enough for several calls of the writer. */
const BUSY_S = 10
const BATCH = 50_000
/** Maximum ratio of the readers' p99 with a writer to that without. */
const TARGET = 5

/** Queries of the readers: pages of a common and a rare pattern, and a few of the newest. */
const READ = {
  'search=casa, 100': { search: 'casa', limit: '100' },
  'search=qx, 100': { search: 'qx', limit: '100' },
  'last_register=5': { last_register: '5' },
}

interface Round {
  readonly idle: Loaded
  readonly busy: Loaded
  readonly calls: number
  readonly ratio: number
}

await withWorkspace(async (workspace) => {
  // On all cores, as in production: writes run in their own thread.
  const service = await startService(workspace, { core: 'any' })
  await addAll(service, toRecords(RECORDS))
  await searchReady(service)
  console.log(`### ${READERS} readers and a writer of ${BATCH} per call, initially ${RECORDS} records\n`)
  console.log('| | idle: per second | p99 | with the writer: per second | p99 | calls | ratio of p99 |')
  console.log('|---|---|---|---|---|---|---|')
  let added = 0
  for (const [name, query] of Object.entries(READ)) {
    const url = service.endpoint('domainwatch/list', query)
    const read = (seconds: number) => load({ server: service, url, connections: READERS }, seconds)
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await untilAtRest(service)
      const idle = await read(IDLE_S)
      let isOver = false
      let calls = 0
      const writer = (async () => {
        for (; !isOver; calls++) await addAll(service, batch(added++))
      })()
      const busy = await read(BUSY_S)
      isOver = true
      await writer
      rounds.push({ idle, busy, calls, ratio: busy.p99Ms / idle.p99Ms })
    }
    const ratio = median(rounds.map((round) => round.ratio))
    const of = (pick: (round: Round) => number) => median(rounds.map(pick))
    const cells = [
      name,
      of(({ idle }) => idle.perSecond).toFixed(0),
      `${of(({ idle }) => idle.p99Ms).toFixed(1)} ms`,
      of(({ busy }) => busy.perSecond).toFixed(0),
      `${of(({ busy }) => busy.p99Ms).toFixed(1)} ms`,
      of(({ calls }) => calls).toFixed(0),
      `**${ratio.toFixed(1)}** (below ${TARGET}: ${ratio < TARGET ? 'met' : 'missed'})`,
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
})

/** Each batch has different names. */
function batch(number: number): DomainRecord[] {
  return Array.from({ length: BATCH }, (_, i) => {
    const domain = `nuevo${number * BATCH + i}`
    return { domain, length: domain.length, reserve: 0, status: 1, date_reg: '2026-01-01 00:00:00' }
  })
}
