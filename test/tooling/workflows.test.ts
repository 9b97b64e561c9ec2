import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findMissingLimits, findUnknownScripts, findUnpinnedActions } from '../../scripts/workflows/rules.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const COMMIT = '3d3c42e5aac5ba805825da76410c181273ba90b1'
const GOOD = `name: Good
on: push
permissions:
  contents: read
concurrency:
  group: good-\${{ github.ref }}
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    steps:
      - uses: actions/checkout@${COMMIT} # v7.0.1
      - uses: ./.github/actions/setup
      - run: npm run check
`

const scripts = new Set(['check'])
const getBreaches = (text: string) => [
  ...findUnpinnedActions(text),
  ...findUnknownScripts(text, scripts),
  ...findMissingLimits(text),
]

/** Lets the command check a workflow. @returns the breaches, without the name of the file */
async function lint(context: TestContext, text: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-workflows-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, '.github/workflows'), { recursive: true })
  await writeFile(join(folder, '.github/workflows/planted.yml'), text)
  const { code, breaches } = await check(folder)
  assert.equal(code, 1)
  return breaches.map((breach) => breach.replace('.github/workflows/planted.yml: ', ''))
}

function check(folder: string): Promise<{ code: unknown; breaches: string[] }> {
  return new Promise((resolve) => {
    const args = [join(root, 'scripts/check-workflows.ts'), '--root', folder]
    execFile(process.execPath, args, { cwd: root }, (error, _stdout, stderr) => {
      resolve({ code: error?.code ?? 0, breaches: stderr.split('\n').filter(Boolean) })
    })
  })
}

describe('the check of workflows', () => {
  test('accepts a valid workflow', () => {
    assert.deepEqual(getBreaches(GOOD), [])
  })

  for (const [name, from, to, breach] of [
    [
      'an action by its tag',
      `${COMMIT} # v7.0.1`,
      'v7',
      '"actions/checkout@v7" is not pinned: owner/name@<commit> # v1.2.3',
    ],
    [
      'a commit without a version',
      ' # v7.0.1',
      '',
      `"actions/checkout@${COMMIT}" is not pinned: owner/name@<commit> # v1.2.3`,
    ],
    [
      'a write permission for all jobs',
      'contents: read',
      'contents: write',
      'the workflow does not begin with read permissions only: a job asks for more itself',
    ],
    [
      'no permissions',
      'permissions:\n  contents: read\n',
      '',
      'the workflow does not begin with read permissions only: a job asks for more itself',
    ],
    [
      'no concurrency group',
      'concurrency:\n  group: good-${{ github.ref }}\n',
      '',
      'the workflow has no concurrency group',
    ],
    ['a job without a time limit', '    timeout-minutes: 5\n', '', 'the job one has no timeout-minutes'],
    ['a script that is not there', 'npm run check', 'npm run chekc', 'package.json has no script chekc'],
  ] as const) {
    test(`refuses ${name}`, () => {
      assert.deepEqual(getBreaches(GOOD.replace(from, to)), [breach])
    })
  }

  test('reports each violation of actionlint and of the rules with its line', async (context) => {
    const text = GOOD.replace('github.ref }}', 'gihub.ref }}').replace('ubuntu-24.04', 'ubuntu-24.05')
    const [pin, variable = '', runner = '', ...rest] = await lint(context, text.replace(COMMIT, 'main'))
    assert.equal(pin, '"actions/checkout@main # v7.0.1" is not pinned: owner/name@<commit> # v1.2.3')
    assert.match(variable, /^6:\d+ undefined variable "gihub"/)
    assert.match(runner, /^9:\d+ label "ubuntu-24.05" is unknown/)
    assert.deepEqual(rest, [])
  })
})
