import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findDescriptionProblems } from '../../scripts/language/descriptions.ts'
import { findNames } from '../../scripts/language/names.ts'
import { findPhrases } from '../../scripts/language/phrases.ts'
import { getProse } from '../../scripts/language/prose.ts'
import { temporaryFolder } from '../support/folder.ts'

const SCRIPT = fileURLToPath(new URL('../../scripts/check-language.ts', import.meta.url))

test('misspelt words and phrases to avoid fail, with their places', async () => {
  await using folder = await temporaryFolder()
  await mkdir(join(folder.path, 'docs'))
  await mkdir(join(folder.path, 'src', 'lib'), { recursive: true })
  // Spanish is known in the README, and code is not checked.
  await writeFile(join(folder.path, 'README.md'), '# Title\n\nLa clave no existe.\n')
  await writeFile(
    join(folder.path, 'docs', 'page.md'),
    '# Title\n\nIt recieves a request, `zzyx`.\nWhoever waits\nis answered at once.\n',
  )
  await writeFile(
    join(folder.path, 'src', 'lib', 'a.ts'),
    '/** Reads it\n * anew, retruns. */\nexport const zzyx = `told`\n',
  )
  const openapi = { paths: { '/a': { get: { summary: 'Watches' } } } }
  await writeFile(join(folder.path, 'openapi.json'), JSON.stringify(openapi))
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--root', folder.path], {
    encoding: 'utf8',
    timeout: 300_000,
  })
  const misspelt = stdout.trim().split('\n')
  assert.equal(misspelt.length, 2, stdout)
  assert.match(misspelt[0] ?? '', /^docs\/page\.md:3:4 - Unknown word \(recieves\)/)
  assert.match(misspelt[1] ?? '', /^src\/lib\/a\.ts:2:10 - Unknown word \(retruns\)/)
  assert.deepEqual(stderr.trim().split('\n'), [
    'docs/page.md:4: avoid «Whoever», write: name the actor: the client, the caller, anyone who',
    'docs/page.md:5: avoid «at once», write: immediately, concurrently',
    'src/lib/a.ts:2: avoid «anew», write: again',
    'openapi.json: get /a: begin the summary «Watches» with a verb',
  ])
  assert.equal(status, 1)
})

test('phrases in the code of a document are not checked', () => {
  assert.deepEqual(findPhrases('docs/page.md', '# Title\n\n`whoever` and\n\n```\nanew\n```\n'), [])
})

test('the prose of sources is comments and texts, at their places', () => {
  const source = [
    '/** Both. */ const a = 1 // Why.',
    "const text = 'not // a comment', word = 'single'",
    'const rows = sql`SELECT name FROM domains`',
    'const shown = `${a} names of ${a}`',
  ]
  assert.deepEqual(
    getProse('src/a.ts', source.join('\n')).split('\n'),
    [
      '/** Both. */             // Why.',
      "             'not // a comment'                 ",
      ' '.repeat(42),
      '                    names of',
    ].map((line, index) => line.padEnd(source[index]?.length ?? 0)),
  )
})

test('the prose of tests is comments and names', () => {
  const source = [
    "test('a first name', () => { // Why.",
    "  const body = 'text of a request'",
    '})',
    'test.skip(`a name of ${1}`, () => {})',
  ]
  const expected = ["     'a first name'          // Why.", '', '', '           a name of']
  assert.deepEqual(
    getProse('test/a.test.ts', source.join('\n'))
      .split('\n')
      .map((line) => line.trimEnd()),
    expected,
  )
})

test('descriptions without a verb, or that refer to their neighbours, are found', () => {
  const documented = (summary: string, description: string, parameter = 'Watch ID') => ({
    paths: { '/a': { get: { summary, description, parameters: [{ description: parameter }] } } },
  })
  const good = documented('List watches', 'Returns the newest first. They are at most 100.')
  assert.deepEqual(findDescriptionProblems(good), [])
  assert.deepEqual(
    findDescriptionProblems(documented('Watches of the account', 'Sorted by name. It can fail.')),
    [
      'get /a: begin the summary «Watches of the account» with a verb',
      'get /a: add a verb to «Sorted by name.»',
    ],
  )
  for (const text of [
    'Of the watch',
    'When it was created',
    'The same as text',
    'In it',
    'Their names',
    'Those found',
  ]) {
    assert.deepEqual(findDescriptionProblems(documented('List watches', '', text)), [
      `«${text}» has to be clear without its neighbours`,
    ])
  }
})

test('a sentence that begins with what something is of is a phrase to avoid', () => {
  const lines = ['/** Of the watch. */', '// A part of the watch.', '// Of each, the newest.']
  assert.deepEqual(
    findPhrases('src/a.ts', lines.join('\n')).map(({ line, text }) => [line, text]),
    [
      [1, 'Of the'],
      [3, 'Of each'],
    ],
  )
})

test('a function, variable or member that is named xOf is found, at its line', () => {
  const source = [
    'function moonOf(a: number) { return a }',
    'const starOf = 1, isOf = 2, allOf = 3',
    'interface A { readonly rootOf: string }',
    'class B { #leafOf() { return this.rootOf } }',
    'type LimbOf<T> = T',
    "'a'.lastIndexOf('a')",
  ]
  assert.deepEqual(
    findNames('src/a.ts', source.join('\n')),
    ['moonOf', 'starOf', 'rootOf', 'leafOf'].map(
      (name, index) => `src/a.ts:${index + 1}: rename «${name}»: getX, findX or toX`,
    ),
  )
})
