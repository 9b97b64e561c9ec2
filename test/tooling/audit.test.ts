import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isLicenseAllowed } from '../../scripts/audit/license-expression.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Result {
  readonly code: number | string | null | undefined
  readonly breaches: readonly string[]
}

function audit(folder: string): Promise<Result> {
  const args = [join(root, 'scripts/audit.ts'), '--root', folder]
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root }, (error, _stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, breaches: stderr.split('\n').filter(Boolean) })
    })
  })
}

interface Entry {
  readonly version: string
  readonly license?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}

const good: Entry = { version: '1.0.0', license: 'MIT', integrity: 'sha512-x' }

/** A project with the real lock file's production tree and one package more. */
async function projectWith(
  context: TestContext,
  entry: Entry,
  manifest?: object,
  files: readonly string[] = [],
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-audit-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  const packages = { ...lock.packages, 'node_modules/planted': entry }
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages }))
  if (manifest !== undefined) {
    const target = join(folder, 'node_modules/planted')
    await mkdir(target, { recursive: true })
    await writeFile(join(target, 'package.json'), JSON.stringify(manifest))
    for (const name of files) await writeFile(join(target, name), '')
  }
  return folder
}

const planted = (breach: string) => ({ code: 1, breaches: [`node_modules/planted (1.0.0) ${breach}`] })
const installed = { name: 'planted', version: '1.0.0', license: 'MIT' }

describe('npm run audit', () => {
  test('takes a package with an allowed license, installed or not', async (context) => {
    assert.deepEqual(await audit(await projectWith(context, good)), { code: 0, breaches: [] })
    assert.deepEqual(await audit(await projectWith(context, good, installed)), { code: 0, breaches: [] })
  })

  test('ignores development packages', async (context) => {
    const entry = { ...good, license: 'GPL-3.0-only', hasInstallScript: true, dev: true }
    assert.deepEqual(await audit(await projectWith(context, entry)), { code: 0, breaches: [] })
  })

  for (const [name, entry, breach] of [
    [
      'an unknown license',
      { ...good, license: 'GPL-3.0-only' },
      'has the license GPL-3.0-only, which is not allowed',
    ],
    [
      'the exception of another package',
      { ...good, license: '0BSD' },
      'has the license 0BSD, which is not allowed',
    ],
    ['no license', { version: '1.0.0', integrity: 'sha512-x' }, 'names no license'],
    ['an install script', { ...good, hasInstallScript: true }, 'runs a script when it is installed'],
    ['no integrity hash', { version: '1.0.0', license: 'MIT' }, 'has no integrity hash in package-lock.json'],
  ] as const) {
    test(`refuses ${name} in the lock file`, async (context) => {
      assert.deepEqual(await audit(await projectWith(context, entry)), planted(breach))
    })
  }

  for (const [name, manifest, files, breach] of [
    [
      'another license',
      { ...installed, license: 'SSPL-1.0' },
      [],
      'has the license SSPL-1.0, which is not allowed',
    ],
    ['a script', { ...installed, scripts: { postinstall: 'x' } }, [], 'runs a script when it is installed'],
    ['something to compile', installed, ['binding.gyp'], 'runs a script when it is installed'],
    ['another version', { ...installed, version: '2.0.0' }, [], 'is installed as 2.0.0: run npm ci'],
  ] as const) {
    test(`refuses ${name} in the installed copy that the lock file does not tell`, async (context) => {
      assert.deepEqual(await audit(await projectWith(context, good, manifest, files)), planted(breach))
    })
  }

  test('refuses an exception that nothing needs', async (context) => {
    const folder = await projectWith(context, good)
    await writeFile(join(folder, 'package-lock.json'), '{ "packages": {} }')
    const { code, breaches } = await audit(folder)
    assert.equal(code, 1)
    assert.ok(breaches.includes('the exception for tslib is not needed: remove it from the policy'))
  })
})

test('license expressions follow the precedence of SPDX', () => {
  const allowed = new Set(['MIT', 'ISC'])
  for (const expression of [
    'MIT',
    '(MIT OR GPL-3.0-only)',
    'GPL-3.0-only OR MIT AND ISC',
    '(MIT AND (ISC))',
  ]) {
    assert.ok(isLicenseAllowed(expression, allowed), expression)
  }
  for (const expression of [
    '',
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    '(MIT OR ISC) AND GPL-3.0-only',
    'MIT WITH Some-exception',
    '(MIT',
    'MIT)',
    'MIT ISC',
    'MIT OR',
    'SEE LICENSE IN LICENSE',
  ]) {
    assert.ok(!isLicenseAllowed(expression, allowed), expression)
  }
})
