import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { UNCHANGED } from '../modifiers/index.ts'
import type { Client } from '../../lib/client.ts'
import { ImageEngine, type EngineOptions } from './index.ts'
import { eventually } from '../../../test/support/eventually.ts'

const quick = fileURLToPath(new URL('../../../test/fixtures/dhash/rgb.png', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'catalejo-engine-'))
after(() => rm(folder, { recursive: true }))

/** Takes tens of seconds to draw, and little memory. */
const slow = join(folder, 'slow.svg')
await writeFile(
  slow,
  `<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000">
   <filter id="f"><feTurbulence baseFrequency="0.05" numOctaves="40"/></filter>
   ${'<rect width="4000" height="4000" filter="url(#f)"/>'.repeat(20)}</svg>`,
)

/** An idle process above this is replaced. */
const MOST_AT_REST = 208 * 1024 * 1024
const noProc = process.platform !== 'linux' && 'no /proc'

/** Resident bytes of a process; 0 if it has ended. */
function resident(pid: number): number {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** A caller that leaves when the signal aborts. */
const by = (client: Client, signal = new AbortController().signal) => ({ client, signal })

async function withEngine(
  options: Partial<EngineOptions>,
  use: (engine: ImageEngine) => Promise<void>,
): Promise<void> {
  const engine = new ImageEngine(options)
  try {
    await use(engine)
  } finally {
    await engine.close()
  }
}

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('processes start with the first job, up to the limit', () =>
  withEngine({ workers: 2 }, async (engine) => {
    assert.deepEqual(engine.stats().pids, [])
    const all = await Promise.all(Array.from({ length: 12 }, () => engine.inspect(quick)))
    assert.ok(all.every(({ kind }) => kind === 'image'))
    assert.equal(engine.stats().pids.length, 2)
    assert.deepEqual({ ...engine.stats(), pids: [] }, { running: 0, waiting: 0, restarts: 0, pids: [] })
  }))

test('a process that hangs is ended when its time is up', { skip: process.platform === 'win32' }, () =>
  withEngine({ workers: 1, timeoutMs: 3_000 }, async (engine) => {
    await engine.inspect(quick)
    const [pid] = engine.stats().pids
    assert.ok(pid !== undefined)
    process.kill(pid, 'SIGSTOP')
    assert.deepEqual(await engine.derive(quick, UNCHANGED), { kind: 'too-slow' })
    assert.equal(engine.stats().restarts, 1)
    assert.equal((await engine.inspect(quick)).kind, 'image')
  }),
)

test('idle processes end, and new ones start', () =>
  withEngine({ workers: 2, idleMs: 50 }, async (engine) => {
    for (let i = 0; i < 2; i++) {
      const both = await Promise.all([engine.inspect(quick), engine.inspect(quick)])
      assert.ok(both.every(({ kind }) => kind === 'image'))
      await eventually(() => engine.stats().pids.length === 0, 'no process is left')
    }
    assert.equal(engine.stats().restarts, 0)
  }))

test('a job with an aborted signal starts nothing', () =>
  withEngine({ workers: 1 }, async (engine) => {
    assert.deepEqual(await engine.inspect(quick, by('address a', AbortSignal.abort())), { kind: 'aborted' })
    assert.deepEqual(engine.stats().pids, [])
  }))

test('a process that crashes is replaced and its job retried once', { skip: noProc }, () =>
  withEngine({ workers: 1 }, async (engine) => {
    const stop = new AbortController()
    await engine.inspect(quick)
    const job = engine.inspect(slow, by('address a', stop.signal))
    for (const restarts of [1, 2]) {
      // More than it takes at rest.
      const running = () => engine.stats().pids.find((pid) => resident(pid) > 150e6)
      await eventually(() => running() !== undefined, 'the job runs')
      process.kill(running() ?? 0, 'SIGKILL')
      await eventually(() => engine.stats().restarts === restarts, 'restart')
    }
    assert.equal((await job).kind, 'damaged')
    assert.equal((await engine.inspect(quick)).kind, 'image')
  }),
)

test('an idle process that crashes is replaced', () =>
  withEngine({ workers: 1 }, async (engine) => {
    await engine.inspect(quick)
    const [pid] = engine.stats().pids
    assert.ok(pid !== undefined)
    process.kill(pid, 'SIGKILL')
    await eventually(() => engine.stats().restarts === 1, 'restart')
    assert.equal((await engine.inspect(quick)).kind, 'image')
  }))

test('the memory of a large image is freed, if necessary with the process', { skip: noProc }, () =>
  withEngine({ workers: 1 }, async (engine) => {
    const large = join(folder, 'large.png')
    const create = { width: 7000, height: 7000, channels: 3, background: '#369' } as const
    await sharp({ create }).png({ progressive: true, compressionLevel: 1 }).toFile(large)
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, ...engine.stats().pids.map(resident))), 5)
    assert.equal((await engine.inspect(large)).kind, 'image')
    clearInterval(watch)
    assert.ok(most > MOST_AT_REST, `it took ${most}`)
    await eventually(() => engine.stats().pids.every((pid) => resident(pid) < MOST_AT_REST), 'its memory')
    assert.equal((await engine.inspect(quick)).kind, 'image')
  }),
)

test('close ends processes and jobs', async () => {
  const engine = new ImageEngine({ workers: 1 })
  await engine.inspect(quick)
  const { pids } = engine.stats()
  const job = engine.inspect(slow)
  const start = performance.now()
  await engine.close()
  assert.ok(performance.now() - start < 10_000)
  assert.deepEqual(await job, { kind: 'aborted' })
  assert.deepEqual(pids.filter(alive), [])
  assert.deepEqual(await engine.inspect(quick), { kind: 'aborted' })
})

test('a job that was just requested starts no process in a closed engine', async () => {
  const engine = new ImageEngine({ workers: 1 })
  const job = engine.inspect(quick)
  await engine.close()
  assert.deepEqual(await job, { kind: 'aborted' })
  assert.deepEqual(engine.stats().pids, [])
})

const script = (code: string, env: NodeJS.ProcessEnv = {}): ReturnType<typeof spawn> =>
  spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
const moduleUrl = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)

test('processes end when their parent is killed during a job', async () => {
  const parent = script(`
    import { ImageEngine } from ${moduleUrl('./index.ts')}
    const engine = new ImageEngine({ workers: 1 })
    await engine.inspect(${JSON.stringify(quick)})
    console.log(engine.stats().pids[0])
    await engine.inspect(${JSON.stringify(slow)})`)
  assert.ok(parent.stdout !== null)
  const [line] = await once(parent.stdout, 'data')
  const pid = Number(line)
  assert.ok(alive(pid))
  parent.kill('SIGKILL')
  await eventually(() => !alive(pid), 'the orphan ends')
})

test('a process runs below the priority of its parent, whatever that is', async () => {
  const parent = script(`
    import { getPriority, setPriority } from 'node:os'
    import { ImageEngine } from ${moduleUrl('./index.ts')}
    setPriority(Math.max(10, getPriority()))
    const engine = new ImageEngine({ workers: 1 })
    await engine.inspect(${JSON.stringify(quick)})
    console.log(getPriority(), getPriority(engine.stats().pids[0]))`)
  assert.ok(parent.stdout !== null)
  const [line] = await once(parent.stdout, 'data')
  const [own, ofProcess] = String(line).split(' ').map(Number)
  assert.equal(ofProcess, Math.min(19, Number(own) + 5))
})

test('an idle engine lets the process end', async () => {
  const parent = script(`
    import { ImageEngine } from ${moduleUrl('./index.ts')}
    await new ImageEngine({ workers: 1 }).inspect(${JSON.stringify(quick)})`)
  const [code] = await once(parent, 'exit')
  assert.equal(code, 0)
})

test('the compile cache of a process serves the next one', async () => {
  const kept = join(folder, 'compiled')
  // The parent writes its own cache only when it exits.
  const code = `
    import { readdirSync } from 'node:fs'
    import { ImageEngine } from ${moduleUrl('./index.ts')}
    const engine = new ImageEngine({ workers: 1 })
    await engine.inspect(${JSON.stringify(quick)})
    await engine.close()
    console.log(readdirSync(${JSON.stringify(kept)}, { recursive: true }).length)`
  // While coverage is measured, neither Node nor the tests use a compile cache.
  const env = { NODE_V8_COVERAGE: undefined, NODE_DISABLE_COMPILE_CACHE: undefined }
  const parent = script(code, { ...env, NODE_COMPILE_CACHE: kept })
  assert.ok(parent.stdout !== null)
  const [[files], [exitCode]] = await Promise.all([once(parent.stdout, 'data'), once(parent, 'exit')])
  assert.equal(exitCode, 0)
  // The library, the engine and its hashing: some 130.
  assert.ok(Number(files) > 50, `${files}`)
})

test('a process frees the memory of what it decoded', () =>
  withEngine({ workers: 1 }, async (engine) => {
    const large = join(folder, 'large.png')
    await sharp({ create: { width: 4_000, height: 3_000, channels: 3, background: '#456' } })
      .png()
      .toFile(large)
    for (let i = 0; i < 10; i++) assert.equal((await engine.inspect(large)).kind, 'image')
    // A bloated process would have been replaced.
    assert.equal(engine.stats().restarts, 0)
  }))
