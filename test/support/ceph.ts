import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { temporaryFolder } from './folder.ts'
import { freePort } from './free-port.ts'
import { skipWithout, startProgram } from './program.ts'
import { BLOBS_VARIABLE } from './s3.ts'

const run = promisify(execFile)

const PROGRAMS = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph', 'ceph-authtool', 'monmaptool', 'radosgw-admin']
const BUCKET = 'catalejo'
const COMMAND_LIMIT_MS = 30_000

/** A real object store on this machine: a Ceph cluster of one node, all of it in memory and gone with it. */
export interface Ceph extends AsyncDisposable {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly bucket: string
  /** The variables by which test files find it. */
  readonly environment: NodeJS.ProcessEnv
  /** `kill -9` on the gateway alone: what it stored stays. @returns starts it again; ready when that resolves */
  killGateway(): Promise<() => Promise<void>>
}

/** Why tests that need the store are skipped; Debian's packages are radosgw, ceph-mon and ceph-osd. */
export const noCeph = skipWithout(...PROGRAMS)

/** Starts a cluster with its S3 gateway on loopback and a bucket. */
export async function startCeph(): Promise<Ceph> {
  await using stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(await temporaryFolder())
  const [monitorPort, port] = [await freePort(), await freePort()]
  const endpoint = `http://127.0.0.1:${port}`
  await startCluster(folder, stack, monitorPort, port)
  const startGateway = () =>
    startDaemon(folder, ['radosgw', '-n', 'client.rgw'], async () => (await fetch(endpoint)).ok)
  let gateway = await startGateway()
  stack.defer(() => gateway[Symbol.asyncDispose]())
  const user = { accessKeyId: 'CATALEJOTEST', secretAccessKey: 'catalejo-test-secret' }
  const keys = [`--access-key=${user.accessKeyId}`, `--secret-key=${user.secretAccessKey}`]
  const account = ['user', 'create', '--uid=test', '--display-name=test', ...keys]
  await ceph('radosgw-admin', folder, ['-n', 'client.rgw', ...account])
  await makeBucket(endpoint, user)
  const environment = {
    [BLOBS_VARIABLE]: `s3://${BUCKET}?endpoint=${endpoint}`,
    AWS_ACCESS_KEY_ID: user.accessKeyId,
    AWS_SECRET_ACCESS_KEY: user.secretAccessKey,
  }
  const parts = stack.move()
  return {
    endpoint,
    ...user,
    bucket: BUCKET,
    environment,
    async killGateway() {
      await gateway[Symbol.asyncDispose]()
      return async () => void (gateway = await startGateway())
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
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

/** Starts a monitor and an object server. */
async function startCluster(
  folder: string,
  stack: AsyncDisposableStack,
  monitorPort: number,
  port: number,
): Promise<void> {
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
  stack.use(await startDaemon(folder, ['ceph-mon', '-i', 'a'], async () => true))
  // The object server's id has to be the one known to the cluster.
  const server = randomUUID()
  await ceph('ceph', folder, ['--connect-timeout', '20', 'osd', 'new', server])
  await ceph('ceph-osd', folder, ['-i', '0', '--mkfs', '--osd-uuid', server])
  const isUp = async () => (await ceph('ceph', folder, ['osd', 'stat'])).includes('1 up')
  stack.use(await startDaemon(folder, ['ceph-osd', '-i', '0'], isUp))
}

const startDaemon = (
  folder: string,
  [program = '', ...rest]: readonly string[],
  isReady: () => Promise<boolean>,
) => startProgram([program, ...withConfiguration(folder, ['-f', ...rest])], { isReady })

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
