#!/usr/bin/env node
// Starts the command on Node 24.11 or newer (24.0 fails the tests): on this Node if it is one, else on the one that was installed as a
// dependency. A packed release runs the compiled program (dist/), a checkout its sources (src/). See docs/decisions.md.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { compileCacheFolder } from './compile-cache.js'

// Keeps compiled code from one start to the next: most of a short command's time would be compiling. Worker threads find the cache
// through the environment.
const compileCache = process.env.NODE_COMPILE_CACHE ?? compileCacheFolder()
if (compileCache !== undefined) {
  process.env.NODE_COMPILE_CACHE = compileCache
  module.enableCompileCache?.(compileCache)
}

const PARENT_CHECK_MS = 250

// A checkout may also hold an older dist/; a release has no sources.
const source = new URL('../src/cli/main.ts', import.meta.url)
const program = existsSync(source) ? source : new URL('../dist/cli/main.js', import.meta.url)

limitMemory()
stopWithNpm()
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major > 24 || (major === 24 && minor >= 11)) {
  await import(program.href)
} else {
  const node = bundledNode()
  if (node === undefined) {
    console.error(
      `catalejo needs Node 24.11 or newer: this is ${process.versions.node}, and none is installed for ` +
        `${process.platform} on ${process.arch}`,
    )
    process.exit(1)
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`catalejo needs Node 24.11 or newer: the installed one does not start (${error.message})`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}

/**
 * Replaces this process by one with memory settings that are only read at the start: glibc gives freed memory of uploads back, and
 * V8's young generation keeps a small size. Saves a quarter of the memory. A `MALLOC_…` variable turns it off.
 */
function limitMemory() {
  const words = process.argv.slice(2)
  // Without words the command serves.
  const isServing = (words.length === 0 || words.includes('serve')) && process.platform === 'linux'
  // A channel to the parent, which cluster workers have, is lost in the new process.
  if (!isServing || process.execve === undefined || process.connected === true) return
  if (Object.keys(process.env).some((name) => name.startsWith('MALLOC_'))) return
  const memory = {
    MALLOC_ARENA_MAX: '1',
    // Above the images that are read in one piece: mapping each of them would take three times as long as sending it.
    MALLOC_MMAP_THRESHOLD_: '307200',
    MALLOC_TRIM_THRESHOLD_: '8388608',
  }
  const args = [process.execPath, '--max-semi-space-size=2', ...process.execArgv, ...process.argv.slice(1)]
  process.execve(process.execPath, args, { ...process.env, ...memory })
}

/**
 * Stops with npm: npm passes SIGTERM to the shell that runs its script only, and the service would stay without a parent and keep
 * its port. `exec` in the script would do, but does not exist on Windows.
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
