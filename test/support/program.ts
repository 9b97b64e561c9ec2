import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { eventually } from './eventually.ts'
import { KILL_WITH_PARENT } from './node-process.ts'

/** Returns why tests that need these programs are skipped; false when all are installed. */
export function skipWithout(...programs: readonly string[]): string | false {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const absent = programs.filter((name) => !folders.some((folder) => existsSync(resolve(folder, name))))
  return absent.length > 0 && `not installed: ${absent.join(', ')}`
}

interface ProgramOptions {
  /** Whether it serves; may reject until then. */
  readonly isReady: () => Promise<boolean>
  readonly environment?: NodeJS.ProcessEnv
  /** What ends it. Processes of Varnish outlive its first one if that is killed. */
  readonly signal?: 'SIGKILL' | 'SIGTERM'
}

/** Starts a server, which ends with the test however that ends. @returns once it serves */
export async function startProgram(
  words: readonly string[],
  options: ProgramOptions,
): Promise<AsyncDisposable> {
  const { isReady, environment = {}, signal = 'SIGKILL' } = options
  const [program = '', ...parameters] = [...KILL_WITH_PARENT, ...words]
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...environment },
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  const ended = once(child, 'exit')
  async function end() {
    child.kill(signal)
    await ended
  }
  try {
    await eventually(
      async () => {
        assert.equal(child.exitCode, null, said)
        return isReady().catch(() => false)
      },
      () => `${words[0]} serves: ${said}`,
    )
  } catch (error) {
    await end()
    throw error
  }
  return { [Symbol.asyncDispose]: end }
}
