/** Builds clients/js: generates its types, which are also those of the console, from openapi.json, and compiles it to dist/. Neither is in git. */
import { execSync } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { clientTypes } from './client-types.ts'

const document = JSON.parse(await readFile('openapi.json', 'utf8'))
await writeFile('clients/js/schema.ts', clientTypes(document))
await rm('clients/js/dist', { recursive: true, force: true })
execSync('tsc -p clients/js', { stdio: 'inherit' })
