/** Compiles src/ to dist/, which is what a release runs: Node strips no types under node_modules. */
import { execSync } from 'node:child_process'
import { rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
execSync('tsc -p tsconfig.build.json', { stdio: 'inherit' })
