#!/usr/bin/env node
// Starts the command on Node 24 or newer: this Node if it is one, else the one that came as a dependency.
// The program is compiled in the packed release (dist/) and runs from its sources in a checkout (src/).
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const compiled = new URL('../dist/cli.js', import.meta.url)
const program = existsSync(compiled) ? compiled : new URL('../src/cli.ts', import.meta.url)

const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 24 || (major === 24 && minor >= 11)) {
  await import(program.href)
} else {
  const node = bundledNode()
  if (node === undefined) {
    console.error(`catalejo needs Node 24 or newer (this is ${process.versions.node})`)
    process.exit(1)
  }
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
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
