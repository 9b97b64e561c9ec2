import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Clock } from '../../lib/clock.ts'
import { serviceTimeZone } from '../../domainwatch/registry/queries.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Config } from '../config/config.ts'
import { addressAtPort, readMetric } from './network.ts'
import { fail, problemsOr, warn, type Check, type Result } from './finding.ts'
import { latestChange, serverState } from './queries.ts'

/** Differences below it are those of requests and of ordinary clocks. */
const TOLERANCE_MS = 2 * 60_000
const HEAD_TIMEOUT_MS = 3_000
const DAY_MS = 86_400_000

/** The clock, compared with every other one within reach, and the time zone. */
export function clockChecks(config: Config, database: Database, clock: Clock): readonly Check[] {
  return [
    { name: 'clock', run: () => checkClock(config, database, clock) },
    { name: 'time zone', run: async () => [await checkZone(config, database)] },
  ]
}

async function checkClock(config: Config, database: Database, clock: Clock): Promise<readonly Result[]> {
  const problems: Result[] = []
  const address = await addressAtPort(config)
  const local = 'url' in address ? address.url : undefined
  // The service is another process for the command.
  const stepMs =
    local === undefined
      ? clockStepMs(clock)
      : 1_000 * (await readMetric(config, local, 'catalejo_clock_step_seconds').catch(() => 0))
  if (Math.abs(stepMs) > TOLERANCE_MS)
    problems.push(
      fail(
        `the clock was set ${span(stepMs)} ${stepMs > 0 ? 'ahead' : 'back'} while the service ran: times stored since are wrong`,
        SYNCHRONISE,
      ),
    )
  const newest = (await database.first(latestChange()))?.at ?? 0
  if (newest - clock.now() > TOLERANCE_MS)
    problems.push(
      fail(
        `the newest change is ${span(newest - clock.now())} ahead of this clock: the clock was ahead then, or is behind now`,
        SYNCHRONISE,
      ),
    )
  const hosts = otherHosts(config, local).map(hostTime)
  const others = await Promise.all([serverTime(config, database), ...hosts])
  for (const other of others) {
    if (other === undefined) continue
    const ahead = clock.now() - other.at
    if (Math.abs(ahead) > TOLERANCE_MS)
      problems.push(
        fail(
          `the clock is ${span(ahead)} ${ahead > 0 ? 'ahead of' : 'behind'} the clock of ${other.of}`,
          SYNCHRONISE,
        ),
      )
  }
  if (problems.length === 0 && (await isUnsynchronised()))
    problems.push(warn('this system does not synchronise its clock, which may be wrong', SYNCHRONISE))
  const compared = others.flatMap((one) => one?.of ?? [])
  return problemsOr(
    problems,
    `${new Date(clock.now()).toISOString()}, compared with the newest change${compared.map((of) => `, ${of}`).join('')}`,
  )
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

const SYNCHRONISE = 'synchronise it: timedatectl set-ntp true'

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

async function checkZone({ timeZone }: Config, database: Database): Promise<Result> {
  const stored = (await database.first(serviceTimeZone()))?.time_zone ?? null
  if (stored !== null && stored !== timeZone)
    return warn(
      `the records are in the time zone ${stored}, but the setting is ${timeZone}: lists and imports of this command read dates in another zone`,
      `--time-zone ${stored}`,
    )
  const [local = ''] = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
    .format()
    .split(',')
  return { level: 'ok', text: `${timeZone}, where it is ${local}`, mend: null }
}
