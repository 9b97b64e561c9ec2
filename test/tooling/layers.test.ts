import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Files, each with the rule that it violates: none for code that is allowed. */
type Plant = readonly [rule: string, path: string, text: string]

const imports = (rule: string, path: string, target: string): Plant => [
  rule,
  path,
  `import * as planted from '${target}'\nconsole.log(planted)\n`,
]

const PLANTS: readonly Plant[] = [
  imports('layers', 'lib/a.ts', '../http/server.ts'),
  imports('layers', 'lib/dns/b.ts', '../errors.ts'),
  imports('layers', 'storage/database/sqlite/a.ts', '../../../accounts/index.ts'),
  imports('layers', 'storage/blobs/a.ts', '../../http/errors.ts'),
  imports('layers', 'http/body/a.ts', '../../accounts/index.ts'),
  imports('layers', 'deliveries/a.ts', '../domainwatch/index.ts'),
  imports('layers', 'accounts/a.ts', '../domainwatch/index.ts'),
  imports('layers', 'domainwatch/routes/a.ts', '../../imagestore/hash.ts'),
  imports('layers', 'imagestore/a.ts', '../server/context.ts'),
  imports('layers', 'operations/transfer/a.ts', '../../server/context.ts'),
  imports('layers', 'server/a.ts', '../cli/output.ts'),
  imports('layers', 'console/a.ts', '../accounts/index.ts'),
  ['layers', 'lib/late.ts', `export const late = () => import('../http/server.ts')\n`],
  ['layers', 'lib/again.ts', `export * from '../http/server.ts'\n`],
  ['layers', 'lib/type.ts', `export type { App } from '../server/app.ts'\n`],
  imports('', 'lib/fine.ts', './dns/index.ts'),
  imports('', 'lib/dns/fine.ts', './message.ts'),
  imports('', 'imagestore/fine.ts', '../http/errors.ts'),
  imports('', 'server/fine.ts', '../domainwatch/index.ts'),
  imports('', 'cli/fine.ts', '../imagestore/hash.ts'),
  imports('', 'lib/fine.test.ts', '../http/server.ts'),
  imports('console-is-separate', '../console/b.ts', '../scripts/check.ts'),
  imports('console-is-separate', '../console/c.ts', 'node:fs'),
  imports('console-is-separate', 'app-console.ts', '../console/main.ts'),
  imports('console-layers', '../console/base/a.ts', '../api/client.ts'),
  imports('console-layers', '../console/i18n/texts/a.ts', '../../features/images/links.ts'),
  imports('console-layers', '../console/api/b.ts', '../design/icon.tsx'),
  imports('console-layers', '../console/design/a.ts', '../features/domains/records.ts'),
  imports('console-layers', '../console/features/domains/a.ts', '../../shell/screens.ts'),
  imports('', '../console/features/triage/fine.ts', '../domains/records.ts'),
  imports('', '../console/shell/palette/fine.ts', '../../features/domains/records.ts'),
  imports('', '../console/fine.ts', 'react'),
  imports('sharp-only-in-imagestore', 'http/picture.ts', 'sharp'),
  imports('', 'imagestore/picture.ts', 'sharp'),
  imports('fastify-only-in-http', 'admin/plugin.ts', '@fastify/swagger'),
  ['fastify-only-in-http', 'cli/framework.ts', `export type { FastifyInstance } from 'fastify'\n`],
  imports('', 'server/framework.ts', 'fastify'),
  [
    'no-node-internals',
    'http/internals.ts',
    `export const isSent = (response: { _header: string | null }) => response._header !== null\n`,
  ],
  imports('sql-only-in-queries', 'domainwatch/list.ts', '../storage/database/sql.ts'),
  ['sql-only-in-queries', 'accounts/text.ts', `export const all = 'SELECT name FROM accounts'\n`],
  imports('', 'domainwatch/queries-purge.ts', '../storage/database/sql.ts'),
  ['', 'domainwatch/prose.ts', `export const words = 'select one from the list'\n`],
  ['environment-only-in-config', 'cli/home.ts', `export const home = process.env['HOME']\n`],
  [
    'files-are-private',
    'storage/blobs/creates.ts',
    `import { writeFileSync } from 'node:fs'\nwriteFileSync('x', 'y')\n`,
  ],
  ['', 'storage/blobs/reads.ts', `export { readFile, rename, rm } from 'node:fs/promises'\n`],
]

test('each violation of the layer rules is reported, and nothing else', { timeout: 300_000 }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-lint-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const tsconfig = { extends: join(root, 'tsconfig.json'), include: ['src', 'console'], exclude: [] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  for (const [, path, text] of PLANTS) {
    const file = join(folder, 'src', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  const found = await lint(folder)
  for (const [rule, path] of PLANTS)
    assert.deepEqual(found.get(path) ?? [], rule === '' ? [] : [`house(${rule})`], path)
})

/** Returns the rules of the project that are violated, by the path of the file below src/. */
async function lint(folder: string): Promise<Map<string, string[]>> {
  const program = join(root, 'node_modules/oxlint/bin/oxlint')
  const args = [program, '-c', join(root, '.oxlintrc.json'), '-f', 'json', 'src', 'console']
  const output = await new Promise<string>((done) => {
    // Exits with 1, because there are violations.
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 1 << 24 }, (_error, stdout) => done(stdout))
  })
  const { diagnostics }: { diagnostics: { code: string; filename: string }[] } = JSON.parse(output)
  const found = new Map<string, string[]>()
  for (const { code, filename } of diagnostics) {
    if (!code.startsWith('house(')) continue
    const path = relative(join(folder, 'src'), resolve(folder, filename))
    found.set(path, [...new Set([...(found.get(path) ?? []), code])])
  }
  return found
}
