#!/usr/bin/env node
// Starts the command on Node 24.11 or newer (24.0 fails the tests): this Node if it is one, else the one that came as a
// dependency.
// The program is compiled in the packed release (dist/) and runs from its sources in a checkout (src/).
import { executionAsyncResource } from 'node:async_hooks'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { compileCacheFolder } from './compile-cache.js'

// Keeps compiled code from one start to the next: most of a short command's time would be compiling. By the environment, threads
// have it too, which without it would each hold a compiler of their own.
const compileCache = process.env.NODE_COMPILE_CACHE ?? compileCacheFolder()
if (compileCache !== undefined) {
  process.env.NODE_COMPILE_CACHE = compileCache
  module.enableCompileCache?.(compileCache)
}

const PARENT_CHECK_MS = 250
/** @type {object[]} */
const kept = []

// A checkout may hold an older dist/ beside its sources, so these come first; a release has none.
const source = new URL('../src/cli/main.ts', import.meta.url)
const program = existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url)

beginAnew()
keepTicksQuick()
stopWithNpm()
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 24 || (major === 24 && minor >= 11)) {
  await import(program.href)
} else {
  const node = bundledNode()
  if (node === undefined) {
    console.error(
      `catalejo needs Node 24.11 or newer: this is ${process.versions.node}, and none came along for ` +
        `${process.platform} on ${process.arch}`,
    )
    process.exit(1)
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(
      `catalejo needs Node 24.11 or newer: the one that came along does not start (${error.message})`,
    )
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}

/**
 * Some things are settled when a process begins, so the service begins once more, as the same process.
 *
 * glibc reads how it is to keep freed memory. Left to itself it keeps the large blocks of uploads for good: a third more memory
 * when nothing happens, and twice as much after uploads.
 *
 * V8's young generation is told its size: what the start leaves in it lets it grow by 14 MB, and lists, which make the most
 * garbage, take no longer with a small one. Who runs us may name another size.
 *
 * Where there is one processor only, what V8 does beside the program stands in its way: each of its four helpers takes a turn
 * of some milliseconds, and a collection waits for all of them. One helper is enough to compile and to mark what is in use; the
 * young generation is quicker collected without it. To do without any (--single-threaded-gc) stops everything for 20 to 50 ms a time.
 */
function beginAnew() {
  const isServing = process.argv.slice(2).includes('serve') && process.platform === 'linux'
  // A channel to the parent, as between processes that share a port, does not outlive it.
  if (!isServing || process.execve === undefined || process.connected === true) return
  const isMemoryTold = Object.keys(process.env).some((name) => name.startsWith('MALLOC_'))
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
  const isAlone = availableParallelism() === 1 && !given.includes('--v8-pool-size')
  if (isMemoryTold && !isAlone) return
  const memory = {
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '1048576',
    MALLOC_TRIM_THRESHOLD_: '8388608',
  }
  const options = [
    '--max-semi-space-size=2',
    ...(isAlone ? ['--v8-pool-size=1', '--no-parallel-scavenge'] : []),
  ]
  const line = [process.execPath, ...options, ...process.execArgv, ...process.argv.slice(1)]
  process.execve(process.execPath, line, { ...process.env, ...(isMemoryTold ? {} : memory) })
}

/**
 * Each answer takes some three turns of `process.nextTick`. V8 knows the shape of the objects that stand for them as long as one
 * of them is there: a full garbage collection in between, and from then on each takes four times as long, for good, some 2 µs
 * of every answer. So one is kept.
 */
function keepTicksQuick() {
  process.nextTick(() => kept.push(executionAsyncResource()))
}

/**
 * npm, told to stop, ends the shell it started us with and no more: the service would stay, without a parent, and
 * keep its port.
 */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM')
  }, PARENT_CHECK_MS).unref()
}

function bundledNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const require = createRequire(import.meta.url)
  for (const name of [`node-${platform}-${process.arch}`, `node-bin-${platform}-${process.arch}`]) {
    try {
      return require.resolve(`${name}/bin/node${process.platform === 'win32' ? '.exe' : ''}`)
    } catch {
      // Not installed here; the next name may be.
    }
  }
  return undefined
}
