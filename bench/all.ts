// Runs all benchmarks of package.json sequentially, so that they do not affect one another.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Timeout of one benchmark. The longest prepare a million records for several engines or peers, or ten million for
 * us.
 */
const MAX_MS = 40 * 60_000

const here = new URL('./', import.meta.url)
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL('package.json', here), 'utf8'),
)
const named = Object.values(scripts).map((command) => command.replace(/^node /, ''))
const unnamed = readdirSync(here).filter((file) => file.endsWith('.ts') && !named.includes(file))
if (unnamed.length > 0) throw new Error(`package.json has no script for ${unnamed.join(', ')}`)

for (const file of named) {
  if (file === 'all.ts') continue
  console.log(`\n## ${file}`)
  const { status, signal } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL(file, here)), ...process.argv.slice(2)],
    { stdio: 'inherit', timeout: MAX_MS },
  )
  if (status === 0) continue
  console.error(
    `${file}: ${signal === null ? `exited with ${status}` : `stopped after ${MAX_MS / 60_000} minutes`}`,
  )
  process.exitCode = 1
}
