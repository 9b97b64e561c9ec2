import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findChangelogProblems } from '../../scripts/release/changelog.ts'
import { findTagProblems, readCandidate } from '../../scripts/release/preconditions.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

const CHANGELOG = `# Changelog

An introduction.

## Unreleased

### Added

### Fixed

## [0.2.0] - 2026-12-01

Nodes of 0.1 and 0.2 may run side by side.

### Added

- A thing that takes
  two lines.

### Changed

### Security

- Another, with \`### code\`.

## 0.2.0-rc.1 - 2026-11-30

### Fixed

- A fault.

## 0.1.0 - 2026-11-22

### Added

- Everything.
`
const NOTES = `Nodes of 0.1 and 0.2 may run side by side.

### Added

- A thing that takes
  two lines.

### Security

- Another, with \`### code\`.`

async function folderFor(context: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-release-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** `node scripts/changelog.ts` on a text. */
async function changelog(context: TestContext, text: string, ...args: string[]) {
  const file = join(await folderFor(context), 'CHANGELOG.md')
  await writeFile(file, text)
  const line = [join(root, 'scripts/changelog.ts'), '--file', file, ...args]
  return run(process.execPath, line).then(
    ({ stdout }) => ({ stdout, problems: [] as string[] }),
    ({ stdout, stderr }) => ({
      stdout: String(stdout),
      problems: String(stderr).replaceAll(`${file}: `, '').replaceAll(file, 'it').split('\n').filter(Boolean),
    }),
  )
}

describe('the changelog', () => {
  test("gives a version's notes without headings that have no entry", async (context) => {
    assert.deepEqual(findChangelogProblems(CHANGELOG), [])
    assert.equal((await changelog(context, CHANGELOG, '0.2.0')).stdout, `${NOTES}\n`)
    assert.equal((await changelog(context, CHANGELOG, '0.1.0')).stdout, '### Added\n\n- Everything.\n')
    assert.equal((await changelog(context, CHANGELOG, '0.2.0-rc.1')).stdout, '### Fixed\n\n- A fault.\n')
  })

  test('gives no notes of a version that it does not have, or that has none', async (context) => {
    const absent = await changelog(context, CHANGELOG, '0.2')
    assert.deepEqual(absent, { stdout: '', problems: ['it has no entry for 0.2'] })
    const empty = await changelog(context, CHANGELOG, 'Unreleased')
    assert.deepEqual(empty, { stdout: '', problems: ['it has no entry for Unreleased'] })
  })

  for (const [name, from, to, problem] of [
    ['no title', '# Changelog\n', '# Changes\n', 'the title is not "# Changelog"'],
    ['no section for what is to come', '## Unreleased\n', '', 'the first section is not "Unreleased"'],
    [
      'an unknown heading',
      '### Changed',
      '### Improved',
      '0.2.0 has a heading "Improved": use Added, Changed, Deprecated, Removed, Fixed, Security',
    ],
    ['a heading twice', '### Changed', '### Added', '0.2.0 has the heading "Added" twice'],
    ['a version without a date', '0.1.0 - 2026-11-22', '0.1.0', '0.1.0 has no date such as 2026-11-22'],
    ['a date that is none', '2026-11-22', '2026-11-31', '0.1.0 has no date such as 2026-11-22'],
    ['a version that is none', '## 0.1.0', '## 0.1', '"0.1" is no version'],
    ['versions out of order', '## 0.1.0', '## 0.2.0', '0.2.0 stands below 0.2.0-rc.1, which is not newer'],
    ['a version without entries', '- Everything.', 'Everything.', '0.1.0 has no entry'],
  ] as const) {
    test(`is refused with ${name}`, () => {
      assert.deepEqual(findChangelogProblems(CHANGELOG.replace(from, to)), [problem])
    })
  }
})

/** A project of which nothing is there but what a release reads. */
async function project(context: TestContext, version: string, text = CHANGELOG, locked = version) {
  const folder = await folderFor(context)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ version }))
  await writeFile(
    join(folder, 'package-lock.json'),
    JSON.stringify({ version: locked, packages: { '': { version: locked } } }),
  )
  await writeFile(join(folder, 'CHANGELOG.md'), text)
  return folder
}

describe('a release', () => {
  test('is ready if tag, package, lock file and changelog agree', async (context) => {
    const folder = await project(context, '0.2.0')
    assert.deepEqual(readCandidate(folder, 'v0.2.0', false), { version: '0.2.0', notes: NOTES, problems: [] })
  })

  test('is refused for a tag of another version', async (context) => {
    const folder = await project(context, '0.2.0')
    for (const tag of ['v0.1.0', '0.2.0', 'v0.2.0-rc.1']) {
      assert.deepEqual(readCandidate(folder, tag, false).problems, [
        `The tag ${tag} is not v0.2.0, the version in package.json.`,
      ])
    }
  })

  test('is refused with a lock file of another version', async (context) => {
    const folder = await project(context, '0.2.0', CHANGELOG, '0.1.0')
    assert.deepEqual(readCandidate(folder, 'v0.2.0', false).problems, [
      'package-lock.json does not have the version 0.2.0: run npm install.',
    ])
  })

  test('is refused without a section in the changelog, which a rehearsal can do without', async (context) => {
    const text = CHANGELOG.replace('### Added\n', '### Added\n\n- Something new.\n')
    const folder = await project(context, '0.3.0', text)
    assert.deepEqual(readCandidate(folder, 'v0.3.0', false).problems, [
      'CHANGELOG.md has no section for 0.3.0.',
    ])
    assert.deepEqual(readCandidate(folder, undefined, true), {
      version: '0.3.0',
      notes: '### Added\n\n- Something new.',
      problems: [],
    })
  })

  test('is refused while entries of it are under "Unreleased"', async (context) => {
    const text = CHANGELOG.replace('### Added\n', '### Added\n\n- Something new.\n')
    const folder = await project(context, '0.2.0', text)
    assert.deepEqual(readCandidate(folder, 'v0.2.0', false).problems, [
      'CHANGELOG.md still has entries under "Unreleased": move them to 0.2.0.',
    ])
  })

  test('is tagged only once, and only with everything committed', async (context) => {
    const folder = await project(context, '0.2.0')
    const git = (...args: string[]) =>
      run('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: folder })
    await git('init', '--quiet')
    assert.deepEqual(findTagProblems(folder, 'v0.2.0'), [
      'The working tree has changes that are not committed.',
    ])
    await git('add', '.')
    await git('commit', '--quiet', '--message', 'x')
    assert.deepEqual(findTagProblems(folder, 'v0.2.0'), [])
    await git('tag', 'v0.2.0')
    assert.deepEqual(findTagProblems(folder, 'v0.2.0'), ['The tag v0.2.0 exists already.'])
  })
})
