/** Generates clients from openapi.json with openapi-typescript and @hey-api/openapi-ts, and compiles them with an example of their use. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installPackages } from './install-packages.ts'

const folder = fileURLToPath(new URL('../test/generated-clients/', import.meta.url))

function run(script: string, ...parameters: readonly string[]): void {
  execFileSync(process.execPath, [join(folder, 'node_modules', script), ...parameters], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function toLines(path: string): number {
  return readFileSync(join(folder, 'generated', path), 'utf8').split('\n').length - 1
}

installPackages('test/generated-clients')
run('openapi-typescript/bin/cli.js', '../../openapi.json', '--output', 'generated/openapi-typescript.ts')
run(
  '@hey-api/openapi-ts/bin/run.js',
  '--input',
  '../../openapi.json',
  '--output',
  'generated/hey-api',
  '--silent',
  '--no-log-file',
)
console.log(
  `${toLines('openapi-typescript.ts')} lines by openapi-typescript, ${toLines('hey-api/types.gen.ts')} types by hey-api`,
)
execFileSync(process.execPath, [join(folder, 'node_modules/typescript/bin/tsc'), '-p', '.'], {
  cwd: folder,
  stdio: 'inherit',
})
