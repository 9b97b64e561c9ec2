import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** Who is measured runs on one core, who asks on another. */
export const SERVER_CORE = 0
export const CLIENT_CORE = 1

export function has(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 5_000 }).error === undefined
}

const canPin = availableParallelism() > 1 && has('taskset', '--version')

/** A command line that keeps a program on one core, where that can be had. `taskset` leaves the process id alone. */
export function pinned(core: number | undefined, command: string, args: readonly string[]) {
  return core === undefined || !canPin
    ? { command, args: [...args] }
    : { command: 'taskset', args: ['-c', String(core), command, ...args] }
}

/** Keeps a process that runs, and all it starts from now on, on one core, where that can be had. */
export function pinProcess(pid: number, core: number): void {
  if (canPin) spawnSync('taskset', ['-cp', String(core), String(pid)], { stdio: 'ignore', timeout: 5_000 })
}

/** The kernel counts processor time in ticks; 100 a second on every Linux that Node runs on. */
const TICK_SECONDS = 0.01

/** Processor seconds that a process and its living children have used; undefined where there is no /proc. */
export function cpuSeconds(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command's name may hold spaces and brackets: the numbers start behind its last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const own = (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS
    return childrenOf(pid).reduce((sum, child) => sum + (cpuSeconds(child) ?? 0), own)
  } catch {
    return undefined
  }
}

/** A process and all below it. */
export function processTree(pid: number): number[] {
  try {
    return [pid, ...childrenOf(pid).flatMap(processTree)]
  } catch {
    return []
  }
}

/**
 * Has programs, and all below them, stand still while something is measured: what they do of their own accord (a database
 * tidies up for minutes after it was filled) would fall on whoever shares their core.
 */
export async function whileStill<T>(pids: readonly number[], work: () => Promise<T>): Promise<T> {
  const still = pids.flatMap(processTree)
  for (const pid of still) signal(pid, 'SIGSTOP')
  try {
    return await work()
  } finally {
    for (const pid of still) signal(pid, 'SIGCONT')
  }
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const path = `/proc/${pid}/task/${thread}/children`
    return existsSync(path) ? readFileSync(path, 'latin1').split(' ').filter(Boolean).map(Number) : []
  })
}

/** Processor microseconds for each of `done` pieces of work between two readings. */
export function cpuMicros(
  before: number | undefined,
  after: number | undefined,
  done: number,
): number | undefined {
  return before === undefined || after === undefined ? undefined : ((after - before) * 1e6) / done
}
