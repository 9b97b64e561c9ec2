// Every bench, one after another, so that none disturbs the other.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAX_MS = 20 * 60_000

for (const name of [
  'answers',
  'list',
  'search',
  'add',
  'similar',
  'changes',
  'import',
  'upload',
  'originals',
  'pipeline',
  'event-loop',
  'engines',
  'stores',
  'workers',
  'near',
  'dns',
]) {
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const { status } = spawnSync(process.execPath, [file, ...process.argv.slice(2)], {
    stdio: 'inherit',
    timeout: MAX_MS,
  })
  if (status !== 0) process.exitCode = 1
}
