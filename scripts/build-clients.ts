/** Builds clients/js: generates its types from openapi.json, and compiles it to dist/. Neither is in git. */
import { execSync } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { consoleTypes } from './console-types.ts'

const document = JSON.parse(await readFile('openapi.json', 'utf8'))
await writeFile('clients/js/schema.ts', consoleTypes(document))
await rm('clients/js/dist', { recursive: true, force: true })
execSync('tsc -p clients/js', { stdio: 'inherit' })
