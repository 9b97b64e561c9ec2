// Measures bulk DNS look-ups: queries per second and CPU time per query, compared with dnsperf, bare datagrams of
// Node and node:dns. The client has one core and the server another; 50, 500 or 5,000 queries are in flight. Also
// measures a resolver, calls over HTTP with 1,000 names each, and the results of 100,000 queries to servers that drop
// queries, fail or time out. `--only own,http` selects parts (`delegated`, `own`, `resolver`, `http`, `faults`).
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createResolver } from '../src/lib/dns/index.ts'
import { compare, type Contender, type Sample } from './lib/compare.ts'
import {
  DELEGATED,
  delegatedName,
  OWN_ZONES,
  ownName,
  startNsd,
  startUnbound,
  getTruth,
} from './lib/dns-zone.ts'
import { CLIENT_CORE, cpuMicros, cpuSeconds, has, pinned } from './lib/machine.ts'
import { SECONDS, wants } from './lib/options.ts'
import { startServer } from './lib/server.ts'
import { startService } from './lib/service.ts'
import { withWorkspace, type Workspace } from './lib/workspace.ts'

const run = promisify(execFile)
const lib = (name: string) => fileURLToPath(new URL(`lib/${name}`, import.meta.url))
const QUESTIONS = 100_000
const IN_FLIGHT = 500
/** Limit of concurrent bulk calls per account. */
const CALLS = 4
const NAMES_PER_CALL = 1_000
/** Concurrent queries of each call in the service. */
const CONCURRENCY = 100

const latencies = new Map<string, number>()

async function measure(who: string, port: number, what: string, inFlight: number): Promise<Sample> {
  const args = [lib('dns-client.ts'), who, String(port), what, String(inFlight), String(SECONDS)]
  const line = pinned(CLIENT_CORE, process.execPath, args)
  const { stdout } = await run(line.command, line.args, { timeout: 60_000 })
  const result: Sample & { p99: number; wrong: number } = JSON.parse(stdout)
  if (result.wrong > 0) console.log(`${who}, ${what} names, ${inFlight} in flight: ${result.wrong} failed`)
  latencies.set(`${who}, ${what} names, ${inFlight} in flight`, result.p99)
  return result
}

/** Parses the report of dnsperf: it has exited before its CPU time could be read. */
async function dnsperf(port: number, file: string): Promise<Sample> {
  const args = `-s 127.0.0.1 -p ${port} -d ${file} -q ${IN_FLIGHT} -l ${SECONDS}`.split(' ')
  const line = pinned(CLIENT_CORE, 'dnsperf', args)
  const { stdout } = await run(line.command, line.args, { timeout: 60_000 })
  const perSecond = Number(/Queries per second: +([\d.]+)/.exec(stdout)?.[1])
  return { perSecond, cpuMicros: undefined }
}

/** Looks up all names in calls of a thousand, some of them concurrent. */
async function overHttp(workspace: Workspace, port: number): Promise<Sample> {
  const flags = ['--dns-parent', `127.0.0.1:${port}`, '--log-level', 'warn']
  const service = await startService(workspace, { flags, core: CLIENT_CORE })
  let next = 0
  const call = async () => {
    const data = Array.from({ length: NAMES_PER_CALL }, () => delegatedName(next++ % DELEGATED))
    const response = await fetch(service.endpoint('domainwatch/dns'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data }),
    })
    const found = (await response.text()).match(/^{"status":200,/gm)?.length ?? 0
    assert.equal(found, NAMES_PER_CALL)
  }
  for (let i = 0; i < 20; i++) await call()
  const cpu = cpuSeconds(service.pid)
  const start = performance.now()
  const first = next
  await Promise.all(
    Array.from({ length: CALLS }, async () => {
      while (performance.now() - start < SECONDS * 1_000) await call()
    }),
  )
  const count = next - first
  const elapsed = performance.now() - start
  const after = cpuSeconds(service.pid)
  await service.stop()
  return { perSecond: (count / elapsed) * 1_000, cpuMicros: cpuMicros(cpu, after, count) }
}

/** Queries two faulty servers and one that never answers, and compares each result with the expected one. */
async function faults(workspace: Workspace): Promise<void> {
  const faulty = await Promise.all(
    [1, 2].map(async (n) => {
      const output = join(workspace.folder, `faulty${n}.log`)
      const launch = { command: process.execPath, args: [lib('faulty-dns.ts')], core: undefined, output }
      return Number(workspace.keep(await startServer(launch, /port (\d+)/)).url)
    }),
  )
  const silent = createSocket('udp4')
  silent.bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const [one = 0, two = 0] = faulty
  const ports = [one, silent.address().port, two]
  for (const inFlight of [IN_FLIGHT, 10 * IN_FLIGHT]) {
    const resolver = createResolver({
      servers: ports.map((port) => ({ address: '127.0.0.1', family: 4, port })),
      role: 'parent',
      cache: new Map(),
      maxInFlight: 10_000,
    })
    const counts = { right: 0, wrong: 0, unanswered: 0 }
    let next = 0
    let slowest = 0
    const start = performance.now()
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (next < QUESTIONS) {
          const i = next++
          const began = performance.now()
          const answer = await resolver.nameServers(delegatedName(i))
          slowest = Math.max(slowest, performance.now() - began)
          const truth = getTruth(i)
          if (answer.kind === 'failed' || answer.kind === 'timeout') counts.unanswered++
          else if (JSON.stringify(answer) === JSON.stringify(truth)) counts.right++
          else counts.wrong++
        }
      }),
    )
    const seconds = ((performance.now() - start) / 1_000).toFixed(1)
    console.log(
      `${QUESTIONS} queries, ${inFlight} in flight, 1% lost, 1% SERVFAIL, one of three servers silent: ${seconds} s, ` +
        `${counts.right} correct, ${counts.wrong} wrong, ${counts.unanswered} without an answer (both servers failed), ` +
        `slowest ${Math.round(slowest)} ms\n`,
    )
    assert.equal(counts.wrong, 0)
    resolver.close()
  }
  silent.close()
}

await withWorkspace(async (workspace) => {
  const port = await startNsd(workspace)
  const file = async (name: string, names: readonly string[]) => {
    const path = join(workspace.folder, name)
    await writeFile(path, names.map((each) => `${each} NS\n`).join(''))
    return path
  }
  const delegated = await file(
    'delegated.txt',
    Array.from({ length: DELEGATED }, (_, i) => delegatedName(i)),
  )
  const own = await file(
    'own.txt',
    Array.from({ length: OWN_ZONES }, (_, i) => ownName(i)),
  )
  const floor = `dnsperf, ${IN_FLIGHT} in flight`
  const hasFloor = has('dnsperf', '-h')
  const compared = hasFloor ? { floor } : {}
  const contender = (
    who: string,
    port: number,
    what: string,
    inFlight: number,
    label: string,
  ): Contender => ({
    name: `${label}, ${inFlight.toLocaleString('en')} in flight`,
    ...compared,
    ...(hasFloor && who === 'ours' && { target: 0.5 }),
    run: () => measure(who, port, what, inFlight),
  })
  const floors = (path: string) => (hasFloor ? [{ name: floor, run: () => dnsperf(port, path) }] : [])
  if (wants('delegated')) {
    await compare('DNS: delegations from the authoritative server of cl', [
      ...floors(delegated),
      contender('dgram', port, 'delegated', IN_FLIGHT, "Node's datagrams alone, not parsed"),
      ...[50, IN_FLIGHT, 10 * IN_FLIGHT].map((inFlight) =>
        contender('ours', port, 'delegated', inFlight, 'ours'),
      ),
    ])
  }
  if (wants('own')) {
    await compare('DNS: name servers in the answer section', [
      ...floors(own),
      ...['ours', 'node:dns'].flatMap((who) =>
        [IN_FLIGHT, 10 * IN_FLIGHT].map((inFlight) => contender(who, port, 'own', inFlight, who)),
      ),
    ])
  }
  if (wants('resolver')) {
    const resolver = await startUnbound(workspace, port)
    await compare('DNS: a resolver (unbound) with cached answers', [
      ...(hasFloor ? [{ name: floor, run: () => dnsperf(resolver, own) }] : []),
      ...['ours', 'node:dns'].map((who) => contender(who, resolver, 'own', IN_FLIGHT, who)),
    ])
  }
  if (wants('http')) {
    await compare('DNS: over HTTP, and the same client without it', [
      contender('ours', port, 'delegated', CALLS * CONCURRENCY, 'ours'),
      {
        name: `${CALLS} calls of ${NAMES_PER_CALL} names, concurrent, over HTTP`,
        floor: `ours, ${CALLS * CONCURRENCY} in flight`,
        run: () => overHttp(workspace, port),
      },
    ])
  }
  console.log('\np99 latency of the last round:\n')
  for (const [who, ms] of latencies) console.log(`- ${who}: ${ms.toFixed(1)} ms`)
  console.log('')
  if (wants('faults')) await faults(workspace)
})
