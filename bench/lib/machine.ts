import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** The measured server and the client run on different cores. */
export const SERVER_CORE = 0
export const CLIENT_CORE = 1

export function has(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 5_000 }).error === undefined
}

const canPin = availableParallelism() > 1 && has('taskset', '--version')

/** Returns a command that pins a program to one core if possible. The process id is that of the program. */
export function pinned(core: number | undefined, command: string, args: readonly string[]) {
  return core === undefined || !canPin
    ? { command, args: [...args] }
    : { command: 'taskset', args: ['-c', String(core), command, ...args] }
}

/** Pins a running process and its future children to one core if possible. */
export function pinProcess(pid: number, core: number): void {
  if (canPin) spawnSync('taskset', ['-cp', String(core), String(pid)], { stdio: 'ignore', timeout: 5_000 })
}

/** The kernel counts CPU time in ticks: 100 per second on every Linux that Node supports. */
const TICK_SECONDS = 0.01

/** Returns the CPU seconds of a process and its running children. Undefined without /proc. */
export function cpuSeconds(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The command name may contain spaces and brackets: the numbers start after the last bracket.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const own = (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS
    return getChildren(pid).reduce((sum, child) => sum + (cpuSeconds(child) ?? 0), own)
  } catch {
    return undefined
  }
}

/** Returns the ids of a process and all its descendants. */
export function processTree(pid: number): number[] {
  try {
    return [pid, ...getChildren(pid).flatMap(processTree)]
  } catch {
    return []
  }
}

/**
 * Pauses processes and their descendants during a measurement: their background work (a database vacuums for minutes
 * after a bulk load) would slow down others on the same core.
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
    // It has exited.
  }
}

function getChildren(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const path = `/proc/${pid}/task/${thread}/children`
    return existsSync(path) ? readFileSync(path, 'latin1').split(' ').filter(Boolean).map(Number) : []
  })
}

/** Returns CPU microseconds per operation for `done` operations between two readings. */
export function cpuMicros(
  before: number | undefined,
  after: number | undefined,
  done: number,
): number | undefined {
  return before === undefined || after === undefined ? undefined : ((after - before) * 1e6) / done
}
