/** Everything that is checked without running the service. All steps run; one that fails fails the whole. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { isInstalled } from './install-packages.ts'

/** The types of console and clients need what these generate. */
const BUILDS = {
  'build of the clients': 'node scripts/build-clients.ts',
  'build of the console': 'node scripts/build-console.ts',
}
/** Independent of each other. The longest come first: one of them started last would be waited for alone. */
const CHECKS = {
  format: 'prettier --check --log-level warn .',
  'spelling and phrases': 'node scripts/check-language.ts',
  'lint and layers': 'oxlint --type-aware --deny-warnings --report-unused-disable-directives',
  types: 'tsc -p . && tsc -p console',
  // Its packages take 125 MB: CI installs them, elsewhere those who work on generated files have them.
  ...(process.env['CI'] === 'true' || isInstalled('scripts/generate')
    ? { 'drift of generated files': 'node scripts/generate.ts --check' }
    : {}),
  'dead code': 'knip',
  'drift of openapi.json': 'node scripts/openapi.ts --check',
  workflows: 'node scripts/check-workflows.ts',
  'licenses and install scripts of dependencies': 'node scripts/audit.ts',
  changelog: 'node scripts/changelog.ts --check',
}

const failed: string[] = []

/** Runs a step and prints what it said once it has ended. */
async function run(name: string, command: string): Promise<void> {
  const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => (output += chunk))
  }
  const [status] = await once(child, 'close')
  console.log(`\n== ${name}: ${command}\n${output}${status === 0 ? 'ok' : 'FAILED'}`)
  if (status !== 0) failed.push(name)
}

for (const [name, command] of Object.entries(BUILDS)) await run(name, command)
const left = Object.entries(CHECKS).values()
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (const [name, command] of left) await run(name, command)
  }),
)
console.log(failed.length === 0 ? '\nAll checks passed' : `\nFailed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
