import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const START_LIMIT_MS = 30_000

/** A server in a process of its own, to be killed. */
export interface Victim {
  readonly url: string
  /** `kill -9`, and waits for the end. */
  kill(): Promise<void>
}

/** Starts `catalejo serve` on a data folder and a free port; resolves once it listens. */
export async function startVictim(data: string, flags: readonly string[] = []): Promise<Victim> {
  const child = spawn(process.execPath, [CLI, 'serve', '--data', data, '--port', '0', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    const url = await listeningAt(child)
    return {
      url,
      async kill() {
        child.kill('SIGKILL')
        await exited
      },
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

async function listeningAt(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout !== null)
  const timer = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS)
  const { stdout } = child
  try {
    for await (const line of createInterface({ input: stdout })) {
      const address = /"address":"(http[^"]+)"/.exec(line)?.[1]
      if (address === undefined) continue
      // What it writes from here on is of no interest, but must not fill the pipe.
      stdout.resume()
      return address
    }
  } finally {
    clearTimeout(timer)
  }
  throw new Error('the server ended before it listened')
}
