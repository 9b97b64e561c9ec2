/** Everything that is checked without running the service. All steps run; one that fails fails the whole. */
import { spawnSync } from 'node:child_process'
import { isInstalled } from './install-packages.ts'

const STEPS = {
  // First: the types of console and clients need what they generate.
  'build of the console': 'node scripts/build-console.ts',
  'build of the clients': 'node scripts/build-clients.ts',
  types: 'tsc -p . && tsc -p console',
  'lint and layers': 'oxlint --type-aware --deny-warnings --report-unused-disable-directives',
  format: 'prettier --check --log-level warn .',
  'spelling and phrases': 'node scripts/check-language.ts',
  'dead code': 'knip',
  'licenses and install scripts of dependencies': 'node scripts/audit.ts',
  workflows: 'node scripts/check-workflows.ts',
  changelog: 'node scripts/changelog.ts --check',
  'drift of openapi.json': 'node scripts/openapi.ts --check',
  // Its packages take 125 MB: CI installs them, elsewhere those who work on generated files have them.
  ...(process.env['CI'] === 'true' || isInstalled('scripts/generate')
    ? { 'drift of generated files': 'node scripts/generate.ts --check' }
    : {}),
}

const failed: string[] = []
for (const [name, command] of Object.entries(STEPS)) {
  console.log(`\n== ${name}: ${command}`)
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' })
  console.log(status === 0 ? 'ok' : 'FAILED')
  if (status !== 0) failed.push(name)
}
console.log(failed.length === 0 ? '\nAll checks passed' : `\nFailed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
