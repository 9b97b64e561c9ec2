import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServer } from './server.ts'
import { SERVER_CORE } from './machine.ts'
import type { Workspace } from './workspace.ts'

/** Delegated names, each to two servers of one of `COMPANIES` companies. */
export const DELEGATED = 200_000
const COMPANIES = 50
/** Names with their own zone on the same server, whose answers are authoritative. */
export const OWN_ZONES = 1_000

export const delegatedName = (i: number) => `nombre${i}.cl`
export const ownName = (i: number) => `propio${i}.cl`
const getServers = (i: number) => [1, 2].map((n) => `ns${n}.hosting${i % COMPANIES}.cl`)

/** The correct answer of the faulty servers. */
export function getTruth(i: number) {
  if (i % 10 === 0) return { kind: 'no-such-name' } as const
  if (i % 10 === 1) return { kind: 'empty' } as const
  return { kind: 'found', servers: getServers(i) } as const
}

/** Returns a UDP port that was free a moment ago. */
async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  return port
}

/** Starts nsd (Debian's package) with a generated zone `cl`, on one core. @returns its port */
export async function startNsd(workspace: Workspace): Promise<number> {
  const { folder } = workspace
  const port = await freeUdpPort()
  const head = '$TTL 3600\n@ IN SOA ns.nic.cl. h.nic.cl. 1 3600 600 86400 300\n'
  const delegations = Array.from({ length: DELEGATED }, (_, i) =>
    getServers(i).map((server) => `nombre${i} IN NS ${server}.\n`),
  )
  await writeFile(
    join(folder, 'cl.zone'),
    `$ORIGIN cl.\n${head}@ IN NS ns.nic.cl.\nns.nic IN A 127.0.0.1\n${delegations.flat().join('')}`,
  )
  const own = getServers(0).map((server) => `@ IN NS ${server}.\n`)
  await writeFile(join(folder, 'own.zone'), head + own.join(''))
  const zones = [['cl', 'cl.zone'], ...Array.from({ length: OWN_ZONES }, (_, i) => [ownName(i), 'own.zone'])]
  const settings = `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  database: ""
  zonesdir: "${folder}"
  pidfile: "${folder}/nsd.pid"
  xfrdfile: "${folder}/nsd.state"
  zonelistfile: "${folder}/nsd.list"
  xfrdir: "${folder}"
  do-ip6: no
  server-count: 1
  rrl-ratelimit: 0
remote-control:
  control-enable: no
${zones.map(([name, file]) => `zone:\n  name: ${name}\n  zonefile: ${file}\n`).join('')}`
  await writeFile(join(folder, 'nsd.conf'), settings)
  const output = join(folder, 'nsd.log')
  const args = ['-d', '-V', '1', '-c', join(folder, 'nsd.conf')]
  workspace.keep(
    await startServer({ command: '/usr/sbin/nsd', args, core: SERVER_CORE, output }, /nsd started/),
  )
  // nsd logs this before its child serves.
  await sleep(500)
  return port
}

/** Starts unbound (Debian's package) on the same core, with a stub zone for `cl` at that server. @returns its port */
export async function startUnbound(workspace: Workspace, registry: number): Promise<number> {
  const { folder } = workspace
  const port = await freeUdpPort()
  await writeFile(
    join(folder, 'unbound.conf'),
    `server:
  interface: 127.0.0.1@${port}
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  use-syslog: no
  do-daemonize: no
  do-ip6: no
  do-not-query-localhost: no
  module-config: "iterator"
  num-threads: 1
  incoming-num-tcp: 10
stub-zone:
  name: cl
  stub-addr: 127.0.0.1@${registry}
`,
  )
  const launch = {
    command: '/usr/sbin/unbound',
    args: ['-d', '-c', join(folder, 'unbound.conf')],
    core: SERVER_CORE,
  }
  workspace.keep(await startServer({ ...launch, output: join(folder, 'unbound.log') }, /start of service/))
  return port
}
