/** Builds what a release contains: src/ compiled to dist/, because Node strips no types under node_modules, console and clients. */
import { execSync } from 'node:child_process'
import { rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
execSync('tsc -p tsconfig.build.json', { stdio: 'inherit' })
for (const part of ['clients', 'console']) execSync(`node scripts/build-${part}.ts`, { stdio: 'inherit' })
