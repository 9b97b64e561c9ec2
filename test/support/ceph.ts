import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { freePort } from './free-port.ts'
import { BLOBS_VARIABLE } from './s3.ts'

const run = promisify(execFile)

const PROGRAMS = [
  'setpriv',
  'radosgw',
  'ceph-mon',
  'ceph-osd',
  'ceph',
  'ceph-authtool',
  'monmaptool',
  'radosgw-admin',
]
const BUCKET = 'catalejo'
const START_LIMIT_MS = 90_000
const COMMAND_LIMIT_MS = 30_000
const STOP_LIMIT_MS = 5_000

/** A real object store on this machine: a Ceph cluster of one node, all of it in memory and gone with it. */
export interface Ceph {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly bucket: string
  /** The variables by which test files find it. */
  readonly environment: NodeJS.ProcessEnv
  /** `kill -9` on the gateway alone: what it stored stays. @returns starts it again; ready when that resolves */
  killGateway(): Promise<() => Promise<void>>
  [Symbol.asyncDispose](): Promise<void>
}

/** The programs that are not installed here; Debian's packages are radosgw, ceph-mon and ceph-osd. */
export function missingPrograms(): readonly string[] {
  return PROGRAMS.filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error !== undefined)
}

/** Starts a cluster with its S3 gateway on loopback and a bucket. */
export async function startCeph(): Promise<Ceph> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-ceph-'))
  const daemons: ChildProcess[] = []

  async function stop() {
    for (const daemon of daemons.reverse()) {
      if (daemon.exitCode !== null || daemon.signalCode !== null) continue
      const exited = once(daemon, 'exit')
      daemon.kill('SIGTERM')
      const killing = setTimeout(() => daemon.kill('SIGKILL'), STOP_LIMIT_MS)
      await exited
      clearTimeout(killing)
    }
    await rm(folder, { recursive: true, force: true })
  }

  try {
    const limit = AbortSignal.timeout(START_LIMIT_MS)
    const port = await startDaemons(folder, daemons, limit)
    const user = { accessKeyId: 'CATALEJOTEST', secretAccessKey: 'catalejo-test-secret' }
    const keys = [`--access-key=${user.accessKeyId}`, `--secret-key=${user.secretAccessKey}`]
    const account = ['user', 'create', '--uid=test', '--display-name=test', ...keys]
    await ceph('radosgw-admin', folder, ['-n', 'client.rgw', ...account])
    async function killGateway() {
      const gateway = daemons.pop()
      assert.ok(gateway !== undefined)
      const exited = once(gateway, 'exit')
      gateway.kill('SIGKILL')
      await exited
      return () => startGateway(folder, daemons, port, AbortSignal.timeout(START_LIMIT_MS))
    }
    const endpoint = `http://127.0.0.1:${port}`
    await makeBucket(endpoint, user)
    const environment = {
      [BLOBS_VARIABLE]: `s3://${BUCKET}?endpoint=${endpoint}`,
      AWS_ACCESS_KEY_ID: user.accessKeyId,
      AWS_SECRET_ACCESS_KEY: user.secretAccessKey,
    }
    return { endpoint, ...user, bucket: BUCKET, environment, killGateway, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function makeBucket(
  endpoint: string,
  credentials: Pick<Ceph, 'accessKeyId' | 'secretAccessKey'>,
): Promise<void> {
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  client.destroy()
}

async function startDaemons(folder: string, daemons: ChildProcess[], limit: AbortSignal): Promise<number> {
  const [monitorPort, port] = [await freePort(), await freePort()]
  const cluster = randomUUID()
  for (const name of ['mon', 'osd', 'rgw', 'run']) await mkdir(join(folder, name))
  await writeFile(join(folder, 'ceph.conf'), configuration(folder, cluster, monitorPort, port))

  const keyring = join(folder, 'keyring')
  const map = join(folder, 'monmap')
  await ceph('ceph-authtool', folder, [
    '--create-keyring',
    keyring,
    '--gen-key',
    '-n',
    'mon.',
    '--cap',
    'mon',
    'allow *',
  ])
  await ceph('monmaptool', folder, [
    '--create',
    '--fsid',
    cluster,
    '--addv',
    'a',
    `v2:127.0.0.1:${monitorPort}`,
    map,
  ])
  await ceph('ceph-mon', folder, ['--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring])
  daemons.push(await daemon('ceph-mon', folder, ['-i', 'a']))
  // The object server's id has to be the one known to the cluster.
  const server = randomUUID()
  await ceph('ceph', folder, ['--connect-timeout', '20', 'osd', 'new', server])
  await ceph('ceph-osd', folder, ['-i', '0', '--mkfs', '--osd-uuid', server])
  daemons.push(await daemon('ceph-osd', folder, ['-i', '0']))
  await until(limit, async () => (await ceph('ceph', folder, ['osd', 'stat'])).includes('1 up'))
  await startGateway(folder, daemons, port, limit)
  return port
}

async function startGateway(
  folder: string,
  daemons: ChildProcess[],
  port: number,
  limit: AbortSignal,
): Promise<void> {
  daemons.push(await daemon('radosgw', folder, ['-n', 'client.rgw']))
  await until(limit, async () => (await fetch(`http://127.0.0.1:${port}/`)).ok)
}

function configuration(folder: string, cluster: string, monitorPort: number, port: number): string {
  return `[global]
fsid = ${cluster}
mon host = v2:127.0.0.1:${monitorPort}
ms bind ipv4 = true
ms bind ipv6 = false
ms bind msgr1 = false
public network = 127.0.0.0/8
public addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
mon allow pool size one = true
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 2147483648
run dir = ${folder}/run
admin socket = ${folder}/run/$cluster-$name.asok
log file = ${folder}/$name.log
mon cluster log file = ${folder}/cluster.log
[mon.a]
mon data = ${folder}/mon
[osd.0]
osd data = ${folder}/osd
osd class load list = *
[client.rgw]
rgw data = ${folder}/rgw
ms mon client mode = crc secure
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw dns name = localhost
rgw thread pool size = 64
rgw enable usage log = false
`
}

const withConfiguration = (folder: string, rest: readonly string[]) => [
  '-c',
  join(folder, 'ceph.conf'),
  ...rest,
]

/** Runs one of Ceph's programs to its end; returns what it printed. */
async function ceph(program: string, folder: string, rest: readonly string[]): Promise<string> {
  const plain = program === 'ceph-authtool' || program === 'monmaptool'
  const { stdout } = await run(program, plain ? [...rest] : withConfiguration(folder, rest), {
    timeout: COMMAND_LIMIT_MS,
    env: { ...process.env, CEPH_CONF: join(folder, 'ceph.conf') },
  })
  return stdout
}

async function daemon(program: string, folder: string, rest: readonly string[]): Promise<ChildProcess> {
  const output = await open(join(folder, `${program}.out`), 'w')
  // `setpriv` lets it die with the test that started it, however that ends.
  const words = ['--pdeathsig', 'KILL', program, ...withConfiguration(folder, ['-f', ...rest])]
  const child = spawn('setpriv', words, {
    stdio: ['ignore', output.fd, output.fd],
  })
  await once(child, 'spawn')
  await output.close()
  return child
}

async function until(limit: AbortSignal, reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached().catch(() => false))) {
    assert.ok(!limit.aborted, `Ceph was not ready within ${START_LIMIT_MS} ms`)
    await pause(200)
  }
}
