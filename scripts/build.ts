/** Builds what a release contains: src/ compiled to dist/, because Node strips no types under node_modules, console and clients. */
import { execSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
execSync('tsc -p tsconfig.build.json', { stdio: 'inherit' })
execSync('node scripts/build-console.ts', { stdio: 'inherit' })
// The image of the container contains no clients.
if (existsSync('clients')) execSync('node scripts/build-clients.ts', { stdio: 'inherit' })
