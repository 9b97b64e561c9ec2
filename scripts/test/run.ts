import { existsSync, statfsSync } from 'node:fs'
import { relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { processesFor } from './processes.ts'
import type { Pass } from './tiers.ts'

const TIMEOUT_MS = 600_000
/** Characters of the reason of a failure that are kept for the end of a run. */
const MAX_REASON = 3_000
const END_OF_FILE = new URL('./end-of-file.ts', import.meta.url).href
/** Hundreds of processes load the same sources: compiled once, each starts in half the time. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))
/** Memory as a folder, on Linux: a quarter of the time of services on SQLite is waiting for fsync. Containers often have 64 MB of it. */
const MEMORY = '/dev/shm'
const MIN_MEMORY_BYTES = 3e9
/** The tier on PostgreSQL tries the same properties with all runs. */
const FEW_RUNS = { TEST_PROPERTY_RUNS: undefined, TEST_CORPUS: undefined }

export interface Ended {
  readonly file: string
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly isSuite: boolean
  /** Why it failed, shortened. */
  readonly reason?: string
}

export interface Results {
  readonly ended: readonly Ended[]
  /** How long each file took, in milliseconds. */
  readonly files: ReadonlyMap<string, number>
  /** Tests that failed at first, and passed when they ran again. */
  readonly flaky: readonly string[]
  /** Files with failures: a test may be written in a file that several of them share. */
  readonly failedFiles: readonly string[]
}

export interface RunOptions {
  /** URL of a running server. */
  readonly postgresUrl: string | undefined
  /** The variables that name a running object store. */
  readonly objectStore: NodeJS.ProcessEnv | undefined
  /** A pattern of names of tests; others do not run. */
  readonly name?: string | undefined
  /** Runs files again when they or their imports change. Never ends. */
  readonly watch?: boolean
}

/** Runs the files of a pass, printing each test as it ends. */
export async function runPass(pass: Pass, options: RunOptions): Promise<Results> {
  // A name must match from the outermost test on, and a watched file needs a process of its own.
  const isShared = pass.sharesProcesses && options.watch !== true && options.name === undefined
  const processes = isShared
    ? processesFor(pass.files)
    : pass.files.map((file) => ({ entry: file, files: [file] }))
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: COMPILED,
    ...(pass.isInMemory && hasMemory() ? { TMPDIR: MEMORY } : {}),
    ...(options.postgresUrl !== undefined && pass.needsPostgres
      ? { TEST_POSTGRES_URL: options.postgresUrl }
      : {}),
    ...(pass.database === 'postgres' ? { TEST_DATABASE: 'postgres' } : {}),
    ...(pass.onTwoNodes ? { TEST_NODES: '2', ...options.objectStore, ...FEW_RUNS } : {}),
  }
  const events = run({
    files: processes.map(({ entry }) => entry),
    concurrency: pass.concurrency,
    timeout: TIMEOUT_MS,
    execArgv: [`--import=${END_OF_FILE}`],
    env,
    ...(options.watch === true ? { watch: true } : {}),
    ...(options.name === undefined ? {} : { testNamePatterns: [options.name] }),
  })
  const ended: Ended[] = []
  const files = new Map<string, number>()
  const failedFiles: string[] = []
  /** What each process wrote in addition to its results. Of one that fails as a whole, nothing else says why. */
  const written = new Map<string, string>()
  const keep = ({ file = '', message }: { readonly file?: string | undefined; readonly message: string }) =>
    written.set(file, `${written.get(file) ?? ''}${message}\n`.slice(-MAX_REASON))
  const isEntry = (name: string) => processes.some(({ entry }) => entry === name)
  /** A file that runs within another process is a test of that process. */
  const isFile = (name: string) => pass.files.includes(relative('', name)) || isEntry(name)
  const note = (outcome: 'passed' | 'failed', data: TestData) => {
    if (isFile(data.name) && outcome === 'passed') return
    // A test with failed subtests is not a failure of its own.
    if (outcome === 'failed' && isOfSubtests(data)) return
    const isSuite = data.details.type === 'suite'
    const isSkipped = data.skip !== undefined && data.skip !== false
    ended.push({
      file: relative('', data.file ?? ''),
      name: data.name,
      outcome: isSkipped ? 'skipped' : outcome,
      isSuite,
      ...(outcome === 'failed' && !isSkipped
        ? { reason: `${reasonOf(data)}${isFile(data.name) ? `\n${written.get(data.name) ?? ''}` : ''}` }
        : {}),
    })
  }
  events.on('test:pass', (data) => note('passed', data))
  events.on('test:fail', (data) => note('failed', data))
  events.on('test:stderr', keep)
  events.on('test:diagnostic', keep)
  events.on('test:complete', ({ name, details }) => {
    const file = relative('', name)
    if (!pass.files.includes(file)) return
    files.set(file, details.duration_ms)
    if (!details.passed) failedFiles.push(file)
  })
  const printed = events.compose(new spec())
  printed.pipe(process.stdout, { end: false })
  await finished(printed)
  return { ended, files, flaky: [], failedFiles }
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY) || process.env['TMPDIR'] !== undefined) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize > MIN_MEMORY_BYTES
}

interface TestData {
  readonly name: string
  readonly file?: string | undefined
  readonly skip?: string | boolean | undefined
  readonly details: {
    readonly duration_ms: number
    readonly type?: string | undefined
    readonly error?: unknown
  }
}

function reasonOf({ details: { error } }: TestData): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const exit = Object(error)
  const how = exit.exitCode === undefined ? '' : ` (exit code ${exit.exitCode}, signal ${exit.signal})`
  return `${inspect(cause)}${how}`.slice(0, MAX_REASON)
}

function isOfSubtests({ details: { error } }: TestData): boolean {
  return error instanceof Error && 'failureType' in error && error.failureType === 'subtestsFailed'
}
