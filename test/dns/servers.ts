import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Resolver } from 'node:dns/promises'
import {
  hostingConfig,
  hostingZone,
  largeZone,
  ownZone,
  registryConfig,
  registryZone,
  resolverConfig,
} from './fixtures/zones.ts'
import { freePort } from '../support/free-port.ts'

export interface DnsServers {
  /** `127.0.0.1:port` of a recursive server (unbound). */
  readonly resolver: string
  /** `127.0.0.1:port` of the server of the registry, authoritative for cl (nsd): it answers with delegations. */
  readonly authoritative: string
  stop(): Promise<void>
}

const NSD = '/usr/sbin/nsd'
const UNBOUND = '/usr/sbin/unbound'
const READY_MS = 30_000

/**
 * A small .cl on the loopback interface: a registry and a hosting company (nsd), a recursive server (unbound) and an
 * address that never answers. Names and what is true of them: fixtures/zones.ts.
 */
export async function startDnsServers(): Promise<DnsServers | { readonly skipped: string }> {
  for (const program of [NSD, UNBOUND]) {
    if (!existsSync(program))
      return { skipped: `${program} is not installed (Debian packages nsd and unbound)` }
  }
  const directory = await mkdtemp(join(tmpdir(), 'catalejo-dns-'))
  const [registry, hosting, recursive] = await Promise.all([freePort(), freePort('127.0.0.2'), freePort()])
  const mute = createSocket('udp4')
  mute.bind(0, '127.0.0.3')
  await once(mute, 'listening')
  const ports = { registry, hosting, recursive, mute: mute.address().port }

  const files = {
    'cl.zone': registryZone(),
    'hosting.zone': hostingZone(),
    'grande.zone': largeZone(),
    'propio.zone': ownZone(),
    'registry.conf': registryConfig(directory, ports),
    'hosting.conf': hostingConfig(directory, ports),
    'unbound.conf': resolverConfig(directory, ports),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)

  const children = [
    run(NSD, ['-d', '-c', join(directory, 'registry.conf')]),
    run(NSD, ['-d', '-c', join(directory, 'hosting.conf')]),
    run(UNBOUND, ['-d', '-c', join(directory, 'unbound.conf')]),
  ]
  const stop = async (): Promise<void> => {
    await Promise.all(children.map((child) => end(child)))
    mute.close()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    await ready(`127.0.0.1:${registry}`, 'cl')
    await ready(`127.0.0.2:${hosting}`, 'registrado.cl')
    await ready(`127.0.0.1:${recursive}`, 'registrado.cl')
  } catch (fault) {
    await stop()
    throw fault
  }
  return { resolver: `127.0.0.1:${recursive}`, authoritative: `127.0.0.1:${registry}`, stop }
}

function run(program: string, parameters: readonly string[]): ChildProcess {
  const child = spawn(program, parameters, { stdio: 'ignore' })
  // A test run that dies must not leave servers behind.
  const reap = (): void => void child.kill('SIGTERM')
  process.once('exit', reap)
  child.once('exit', () => process.removeListener('exit', reap))
  return child
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

/** Waits until the server answers for a name. */
async function ready(server: string, name: string): Promise<void> {
  const client = new Resolver({ timeout: 250, tries: 1 })
  client.setServers([server])
  for (const late = performance.now() + READY_MS; performance.now() < late;) {
    try {
      await client.resolveSoa(name)
      return
    } catch {
      await delay(50)
    }
  }
  throw new Error(`the DNS server at ${server} did not start`)
}
