/** Builds what a release runs: src/ compiled to dist/, because Node strips no types under node_modules, and the console. */
import { execSync } from 'node:child_process'
import { rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
execSync('tsc -p tsconfig.build.json', { stdio: 'inherit' })
execSync('node scripts/build-console.ts', { stdio: 'inherit' })
