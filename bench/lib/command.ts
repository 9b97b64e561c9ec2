import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const LOOK_MS = 50

export interface Ran {
  readonly seconds: number
  /** Peak memory; undefined without /proc. */
  readonly peakMb: number | undefined
}

/** Runs our command and discards its output. */
export async function runCommand(args: readonly string[]): Promise<Ran> {
  const start = performance.now()
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  child.stdout.pipe(createWriteStream('/dev/null'))
  let peakMb: number | undefined
  const timer = setInterval(() => (peakMb = getMemory(child.pid)?.peakMb ?? peakMb), LOOK_MS)
  const [code] = await once(child, 'close')
  clearInterval(timer)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}`)
  return { seconds: (performance.now() - start) / 1000, peakMb }
}

/** Runs our command and returns its output. */
export async function textOf(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}`)
  return text
}

/** Returns the current and peak memory of a process, or undefined if it has exited or there is no /proc. */
export function getMemory(pid: number | undefined) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    const megabytes = (name: string) =>
      Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? NaN) / 1024
    const memory = { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') }
    // The status of a zombie process lacks these fields.
    return Number.isNaN(memory.peakMb) ? undefined : memory
  } catch {
    return undefined
  }
}
