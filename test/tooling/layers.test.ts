import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Plant {
  readonly rule: string
  readonly path: string
  readonly text: string
}

const imports = (path: string, target: string): Plant => ({
  rule: 'house(layers)',
  path,
  text: `import * as planted from '${target}'\nconsole.log(planted)\n`,
})

const separate = (path: string, target: string): Plant => ({
  ...imports(path, target),
  rule: 'house(console-is-separate)',
})

const inConsole = (path: string, target: string): Plant => ({
  ...imports(`../console/${path}`, target),
  rule: 'house(console-layers)',
})

/** One violation per file. */
const VIOLATIONS: readonly Plant[] = [
  imports('lib/a.ts', '../http/server.ts'),
  imports('lib/b.ts', '../server/config/config.ts'),
  imports('lib/dns/c.ts', '../../storage/database/database.ts'),
  imports('lib/dns/d.ts', '../errors.ts'),
  imports('lib/e.ts', '../server/app.ts'),
  imports('storage/database/a.ts', '../../http/errors.ts'),
  imports('storage/database/sqlite/b.ts', '../../../accounts/index.ts'),
  imports('storage/blobs/a.ts', '../../http/errors.ts'),
  imports('storage/blobs/b.ts', '../../imagestore/hash.ts'),
  imports('http/a.ts', '../domainwatch/index.ts'),
  imports('http/body/b.ts', '../../accounts/index.ts'),
  imports('deliveries/a.ts', '../domainwatch/index.ts'),
  imports('accounts/a.ts', '../domainwatch/index.ts'),
  imports('domainwatch/a.ts', '../imagestore/index.ts'),
  imports('domainwatch/routes/b.ts', '../../imagestore/hash.ts'),
  imports('imagestore/a.ts', '../accounts/index.ts'),
  imports('imagestore/b.ts', '../server/context.ts'),
  imports('operations/transfer/a.ts', '../../server/context.ts'),
  imports('operations/transfer/b.ts', '../../cli/output.ts'),
  imports('server/a.ts', '../cli/output.ts'),
  imports('console/a.ts', '../accounts/index.ts'),
  separate('../console/api/a.ts', '../../src/lib/errors.ts'),
  separate('../console/b.ts', '../scripts/check.ts'),
  separate('../console/c.ts', 'node:fs'),
  separate('app-console.ts', '../console/main.ts'),
  inConsole('base/a.ts', '../api/client.ts'),
  inConsole('i18n/texts/a.ts', '../../features/images/links.ts'),
  inConsole('api/b.ts', '../features/filters/filters.ts'),
  inConsole('api/c.ts', '../design/icon.tsx'),
  inConsole('design/a.ts', '../features/domains/records.ts'),
  inConsole('design/b.ts', '../shell/screens.ts'),
  inConsole('features/domains/a.ts', '../../shell/screens.ts'),
  inConsole('features/domains/b.ts', '../../main.tsx'),
  {
    rule: 'house(layers)',
    path: 'lib/late.ts',
    text: `export const late = () => import('../http/server.ts')\n`,
  },
  { rule: 'house(layers)', path: 'lib/again.ts', text: `export * from '../http/server.ts'\n` },
  { rule: 'house(layers)', path: 'lib/type.ts', text: `export type { App } from '../server/app.ts'\n` },
  {
    rule: 'house(sharp-only-in-imagestore)',
    path: 'http/picture.ts',
    text: `import sharp from 'sharp'\nconsole.log(sharp)\n`,
  },
  ...['accounts', 'admin', 'domainwatch', 'imagestore', 'console', 'cli', 'lib', 'storage', 'operations'].map(
    (folder) => ({
      rule: 'house(fastify-only-in-http)',
      path: `${folder}/framework.ts`,
      text: `import type { FastifyInstance } from 'fastify'\nexport type Server = FastifyInstance\n`,
    }),
  ),
  {
    rule: 'house(fastify-only-in-http)',
    path: 'admin/plugin.ts',
    text: `import swagger from '@fastify/swagger'\nconsole.log(swagger)\n`,
  },
  ...[
    `export const isSent = (response: { _header: string | null }) => response._header !== null\n`,
    `export const isSent = (response: { _headerSent: boolean }) => response['_headerSent']\n`,
    `export const timeout = (response: { _keepAliveTimeout: number }) => response?._keepAliveTimeout\n`,
    `export const message = ({ _httpMessage }: { _httpMessage: object }) => _httpMessage\n`,
  ].flatMap((text, index) =>
    ['http/', '../bin/'].map((folder) => ({
      rule: 'house(no-node-internals)',
      path: `${folder}internals-${index}.ts`,
      text,
    })),
  ),
  {
    rule: 'house(sql-only-in-queries)',
    path: 'domainwatch/list.ts',
    text: `import { sql } from '../storage/database/sql.ts'\nconsole.log(sql)\n`,
  },
  {
    rule: 'house(sql-only-in-queries)',
    path: 'accounts/text.ts',
    text: `export const all = 'SELECT name FROM accounts'\n`,
  },
  {
    rule: 'house(sql-only-in-queries)',
    path: 'accounts/template.ts',
    text: 'export const one = (id: number) => `DELETE FROM accounts WHERE id = ${id}`\n',
  },
  {
    rule: 'house(environment-only-in-config)',
    path: 'cli/home.ts',
    text: `export const home = process.env['HOME']\n`,
  },
  {
    rule: 'house(environment-only-in-config)',
    path: 'server/config/settings.ts',
    text: `import { env } from 'node:process'\nconsole.log(env)\n`,
  },
  ...[
    `import { mkdir } from 'node:fs/promises'\nawait mkdir('x')\n`,
    `import { writeFileSync } from 'node:fs'\nwriteFileSync('x', 'y')\n`,
    `import { createWriteStream } from 'fs'\nexport const out = createWriteStream('x')\n`,
    `import { open as unlock } from 'node:fs/promises'\nexport const file = await unlock('x', 'wx')\n`,
    `import { openSync } from 'node:fs'\nexport const file = openSync('x', 'a+')\n`,
    `import * as files from 'node:fs'\nfiles.writeFileSync('x', 'y')\n`,
    `import files from 'node:fs/promises'\nawait files.mkdir('x')\n`,
  ].map((text, index) => ({
    rule: 'house(files-are-private)',
    path: `storage/blobs/creates-${index}.ts`,
    text,
  })),
  {
    rule: 'typescript(no-floating-promises)',
    path: 'lib/floating.ts',
    text: `async function work(): Promise<void> {}\nexport function go() {\n  work()\n}\n`,
  },
  {
    rule: 'typescript(no-misused-promises)',
    path: 'lib/misused.ts',
    text: `export function go() {\n  setTimeout(async () => {}, 1)\n}\n`,
  },
  {
    rule: 'typescript(no-explicit-any)',
    path: 'lib/any.ts',
    text: `export const anything = (value: any) => String(value)\n`,
  },
  {
    rule: 'typescript(no-non-null-assertion)',
    path: 'lib/bang.ts',
    text: `export const first = (list: string[]) => list[0]!\n`,
  },
  {
    rule: 'import(no-cycle)',
    path: 'lib/ring-a.ts',
    text: `import { b } from './ring-b.ts'\nexport const a = () => b()\n`,
  },
  {
    rule: 'import(no-cycle)',
    path: 'lib/type-ring-a.ts',
    text: `import type { B } from './type-ring-b.ts'\nexport type A = B | 1\n`,
  },
]

/** Similar code that is allowed. */
const ALLOWED: readonly Plant[] = [
  imports('http/fine.ts', '../lib/errors.ts'),
  imports('lib/dns/fine.ts', './message.ts'),
  imports('lib/fine.ts', './dns/index.ts'),
  imports('http/parts/fine.ts', '../server.ts'),
  imports('imagestore/fine.ts', '../http/errors.ts'),
  imports('server/fine.ts', '../domainwatch/index.ts'),
  imports('console/fine.ts', '../http/conditional.ts'),
  imports('../console/api/fine.ts', '../base/store.ts'),
  imports('../console/base/fine.ts', '../i18n/index.ts'),
  imports('../console/features/triage/fine.ts', '../domains/records.ts'),
  imports('../console/shell/palette/fine.ts', '../../features/domains/records.ts'),
  imports('../console/fine.ts', 'react'),
  imports('../console/fine.test.ts', 'node:test'),
  imports('cli/fine.ts', '../imagestore/hash.ts'),
  imports('lib/fine.test.ts', '../http/server.ts'),
  imports('domainwatch/queries-purge.ts', '../storage/database/sql.ts'),
  ...[
    `import { openSync } from 'node:fs'\nexport const file = openSync('x', 'r')\n`,
    `import { readFile, rename, rm } from 'node:fs/promises'\nexport const all = [readFile, rename, rm]\n`,
    `import { constants } from 'node:fs'\nimport { open } from 'node:fs/promises'\nexport const file = await open('x', constants.O_RDONLY | constants.O_NONBLOCK)\n`,
  ].map((text, index) => ({ rule: '', path: `storage/blobs/reads-${index}.ts`, text })),
  ...['http', 'server'].map((folder) => ({
    rule: '',
    path: `${folder}/framework.ts`,
    text: `import type { FastifyInstance } from 'fastify'\nexport type Server = FastifyInstance\n`,
  })),
  {
    rule: '',
    path: 'http/header.ts',
    text: `export const _header = 'x'\nexport const all = { _header }\n`,
  },
  { rule: '', path: 'imagestore/picture.ts', text: `import sharp from 'sharp'\nconsole.log(sharp)\n` },
  { rule: '', path: 'lib/ring-b.ts', text: `import { a } from './ring-a.ts'\nexport const b = () => a()\n` },
  {
    rule: '',
    path: 'lib/type-ring-b.ts',
    text: `import type { A } from './type-ring-a.ts'\nexport type B = A | 2\n`,
  },
  {
    rule: '',
    path: 'domainwatch/prose.ts',
    text: `import type { Query } from '../storage/database/sql.ts'\nexport const words: [Query?, string?] = [undefined, 'select one from the list']\n`,
  },
]

test(
  'each violation of the layer rules is reported, and nothing else',
  { timeout: 300_000 },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'catalejo-lint-'))
    context.after(() => rm(folder, { recursive: true, force: true }))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    const tsconfig = { extends: join(root, 'tsconfig.json'), include: ['src', 'console', 'bin'], exclude: [] }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
    for (const { path, text } of [...VIOLATIONS, ...ALLOWED]) {
      const file = join(folder, 'src', path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
    }

    const found = await lint(folder)

    for (const { path, rule } of VIOLATIONS) {
      assert.ok(found.get(path)?.has(rule), `${path}: ${rule} was not reported`)
    }
    for (const { path } of ALLOWED) {
      if (path.endsWith('ring-b.ts')) continue
      assert.deepEqual([...(found.get(path) ?? [])], [], path)
    }
  },
)

/** Returns the rules violated, by the file's path below src/. */
async function lint(folder: string): Promise<Map<string, Set<string>>> {
  const program = join(root, 'node_modules/oxlint/bin/oxlint')
  const config = join(root, '.oxlintrc.json')
  const args = [program, '--type-aware', '-c', config, '-f', 'json', 'src', 'console', 'bin']
  const output = await new Promise<string>((resolve) => {
    // Exits with 1, because there are violations.
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 1 << 24 }, (_error, stdout) => resolve(stdout))
  })
  const { diagnostics }: { diagnostics: { code: string; filename: string }[] } = JSON.parse(output)
  const found = new Map<string, Set<string>>()
  for (const { code, filename } of diagnostics) {
    const place = relative(folder, resolve(folder, filename)).replaceAll('\\', '/')
    const path = place.startsWith('src/') ? place.slice('src/'.length) : `../${place}`
    const rules = found.get(path) ?? new Set()
    found.set(path, rules.add(code))
  }
  return found
}
