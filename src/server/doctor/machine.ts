import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { serviceTimeZone } from '../../domainwatch/registry/queries.ts'
import type { Clock } from '../../lib/clock.ts'
import { localDateTime } from '../../lib/dates.ts'
import { asError, isErrorCode } from '../../lib/errors.ts'
import { isOpenToOthers } from '../../lib/private-files.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Config } from '../config/config.ts'
import { fail, ok, warn, type Check, type Look } from './finding.ts'
import { addressAtPort, readMetric } from './network.ts'
import { latestChange, serverState } from '../../operations/queries.ts'

const MIB = 2 ** 20
const GIB = 2 ** 30
/** Below it, uploads and the log of the database soon fail. */
const FULL_BYTES = 256 * MIB
/** Below it, a backup or a large import may not fit. */
const SCARCE_BYTES = 2 * GIB
/** What a process takes besides images: its code, the list index of a million names, caches of the database. */
const PROCESS_BYTES = 512 * MIB

/** The data folder, its disk, and the memory of this machine. */
export const machineChecks = (config: Config): readonly Check[] => [
  { name: 'data folder', run: () => checkFolder(config) },
  { name: 'disk', run: () => checkDisks(config) },
  { name: 'memory', run: () => checkMemory(config) },
]

async function* checkFolder({ data }: Config): Look {
  const folder = resolve(data)
  if (!existsSync(folder)) {
    yield fail(
      `there is no folder ${folder}`,
      'name it with --data; catalejo serve creates it at its first start',
    )
    return
  }
  for (const path of [folder, join(folder, 'catalejo.db'), join(folder, 'blobs')]) {
    if (!existsSync(path)) continue
    const fault = await access(path, constants.R_OK | constants.W_OK).then(() => undefined, asError)
    if (isErrorCode(fault, 'EROFS'))
      yield fail(`${path} is on a read-only file system: nothing can be stored`, 'mount it for writing')
    else if (fault !== undefined)
      yield fail(`${path} cannot be written by the user of this command`, `chown it to the service's user`)
    if (isOpenToOthers(path))
      yield warn(
        `other users of this machine can read ${path}, which holds keys' digests and uploads`,
        `chmod -R go= ${folder}`,
      )
  }
  return `${folder} is writable, and private`
}

async function* checkDisks({ backupTo, data }: Config): Look {
  const folders = [resolve(data), ...(backupTo?.kind === 'folder' ? [resolve(backupTo.path)] : [])]
  for (const folder of folders.filter((path) => existsSync(path))) {
    const { bavail, blocks, bsize } = await statfs(folder)
    const [free, total] = [bavail * bsize, blocks * bsize]
    const room = `${sizeText(free)} of ${sizeText(total)} free for ${folder}`
    if (free < FULL_BYTES)
      yield fail(`${room}: writes fail when it is full`, 'free space, or move the folder to a larger disk')
    else if (free < SCARCE_BYTES)
      yield warn(`${room}: backups and imports may not fit`, 'free space, or lower --derivative-cache')
    else yield ok(room)
  }
  return
}

async function* checkMemory({ imageMemoryBytes, memoryCacheBytes, workers }: Config): Look {
  const limit = process.constrainedMemory()
  // Without a limit of the container it is 0, or beyond what the machine has.
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const needed = imageMemoryBytes + memoryCacheBytes + workers * PROCESS_BYTES
  const text = `${sizeText(available)} for up to ${sizeText(needed)} at the settings, ${availableParallelism()} cores`
  if (needed > available)
    yield warn(`${text}: the system may end the service`, 'lower --image-memory, --memory-cache or --workers')
  return text
}

/** A size for people, such as `1.5 GiB`. */
function sizeText(bytes: number): string {
  const [unit, name] = bytes >= GIB ? [GIB, 'GiB'] : [MIB, 'MiB']
  return `${(bytes / unit).toFixed(1)} ${name}`
}

/** Differences below it are those of requests and of ordinary clocks. */
const TOLERANCE_MS = 2 * 60_000
const HEAD_TIMEOUT_MS = 3_000
const DAY_MS = 86_400_000
const SYNCHRONISE = 'synchronise it: timedatectl set-ntp true'

/** The clock, compared with every other one within reach, and the time zone. */
export const clockChecks = (config: Config, database: Database, clock: Clock): readonly Check[] => [
  { name: 'clock', run: () => checkClock(config, database, clock) },
  { name: 'time zone', run: () => checkZone(config, database, clock) },
]

async function* checkClock(config: Config, database: Database, clock: Clock): Look {
  let isWrong = false
  const wrong = (text: string) => {
    isWrong = true
    return fail(text, SYNCHRONISE)
  }
  const address = await addressAtPort(config)
  const local = 'url' in address ? address.url : undefined
  // The service is another process for the command.
  const stepMs =
    local === undefined
      ? clockStepMs(clock)
      : 1_000 * (await readMetric(config, local, 'catalejo_clock_step_seconds').catch(() => 0))
  if (Math.abs(stepMs) > TOLERANCE_MS)
    yield wrong(
      `the clock was set ${span(stepMs)} ${stepMs > 0 ? 'ahead' : 'back'} while the service ran: times stored since are wrong`,
    )
  const newest = (await database.first(latestChange()))?.at ?? 0
  if (newest - clock.now() > TOLERANCE_MS)
    yield wrong(
      `the newest change is ${span(newest - clock.now())} ahead of this clock: the clock was ahead then, or is behind now`,
    )
  const hosts = otherHosts(config, local).map(hostTime)
  const others = await Promise.all([serverTime(config, database), ...hosts])
  for (const other of others) {
    if (other === undefined) continue
    const ahead = clock.now() - other.at
    if (Math.abs(ahead) > TOLERANCE_MS)
      yield wrong(`the clock is ${span(ahead)} ${ahead > 0 ? 'ahead of' : 'behind'} the clock of ${other.of}`)
  }
  if (!isWrong && (await isUnsynchronised()))
    yield warn('this system does not synchronise its clock, which may be wrong', SYNCHRONISE)
  const compared = others.flatMap((one) => one?.of ?? [])
  return `${new Date(clock.now()).toISOString()}, compared with the newest change${compared.map((of) => `, ${of}`).join('')}`
}

/** Whether systemd says so; without it nothing is known. */
async function isUnsynchronised(): Promise<boolean> {
  const words = ['show', '--property=NTPSynchronized', '--value']
  const run = promisify(execFile)('timedatectl', words, { timeout: HEAD_TIMEOUT_MS })
  return run.then(
    ({ stdout }) => stdout.trim() === 'no',
    () => false,
  )
}

/** How far the clock was moved since this process was started, in milliseconds: positive if forward. */
export const clockStepMs = (clock: Clock): number =>
  clock.now() - (performance.timeOrigin + performance.now())

function span(ms: number): string {
  const [unit, name] = Math.abs(ms) >= DAY_MS ? [DAY_MS, 'days'] : [60_000, 'minutes']
  return `${(Math.abs(ms) / unit).toFixed(1)} ${name}`
}

interface OtherClock {
  readonly of: string
  readonly at: number
}

async function serverTime(config: Config, database: Database): Promise<OtherClock | undefined> {
  if (config.databaseUrl === '') return undefined
  const state = await database.first(serverState())
  return state && { of: 'PostgreSQL', at: Number(state.now) }
}

/** The service, what is in front of it, and other machines that the settings name. */
function otherHosts({ backupTo, baseUrl, blobsUrl, feeds }: Config, local = ''): readonly string[] {
  const stores = [blobsUrl, backupTo?.kind === 's3' ? backupTo.location : undefined]
  const urls = [
    local,
    baseUrl,
    ...feeds.map(({ url }) => url),
    ...stores.map((store) => store?.endpoint ?? ''),
  ]
  return [...new Set(urls.filter((url) => url !== '').map((url) => new URL(url).origin))]
}

/** Reads the header Date of a server. Undefined if it does not answer: that is the business of another check. */
async function hostTime(origin: string): Promise<OtherClock | undefined> {
  try {
    const response = await fetch(origin, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(HEAD_TIMEOUT_MS),
    })
    const at = Date.parse(response.headers.get('date') ?? '')
    return Number.isNaN(at) ? undefined : { of: new URL(origin).host, at }
  } catch {
    return undefined
  }
}

async function* checkZone({ timeZone }: Config, database: Database, clock: Clock): Look {
  const stored = (await database.first(serviceTimeZone()))?.time_zone ?? null
  if (stored !== null && stored !== timeZone)
    yield warn(
      `the records are in the time zone ${stored}, but the setting is ${timeZone}: lists and imports of this command read dates in another zone`,
      `--time-zone ${stored}`,
    )
  return `${timeZone}, where it is ${localDateTime(clock.now(), timeZone)}`
}
