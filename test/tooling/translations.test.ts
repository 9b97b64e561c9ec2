import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openapiText, resolved } from '../support/openapi.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const paths = globSync(['README.md', 'docs/**/*.md'], { cwd: root })
const spanish = paths.filter((path) => path.startsWith('docs/es/'))
const english = paths.filter((path) => !path.startsWith('docs/es/'))

/** Spanish pages that follow an English one part by part. The others are organized by task. */
const TRANSLATIONS: Readonly<Record<string, string>> = {
  'docs/es/servidor-en-15-minutos.md': 'docs/operations/server-in-15-minutes.md',
}

/** Returns the blocks of shell commands in a page, without comments. */
function getCommands(path: string): string[] {
  return [...read(path).matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) =>
    block.replaceAll(/(?:^|[ \t]+)# .*$/gm, '').trim(),
  )
}

const getCommandLines = (path: string) => getCommands(path).flatMap((block) => block.split('\n'))

/** Returns the levels of the headings of a page, in order: `#` is 1. */
function getHeadingLevels(path: string): number[] {
  const text = read(path).replaceAll(/^```[^]*?^```/gm, '')
  return [...text.matchAll(/^(#+) /gm)].map(([, { length } = '']) => length)
}

// Links of these pages are checked with those of all pages, in docs.test.ts.
describe('Spanish documentation', () => {
  for (const [translation, original] of Object.entries(TRANSLATIONS)) {
    test(`${translation} has the headings and commands of ${original}`, () => {
      assert.deepEqual(getHeadingLevels(translation), getHeadingLevels(original))
      assert.deepEqual(getCommands(translation), getCommands(original))
    })
  }

  test('every command of a Spanish page is in an English one', () => {
    const known = new Set(english.flatMap(getCommandLines))
    const commands = spanish.flatMap((path) => getCommandLines(path).map((line) => ({ path, line })))
    assert.deepEqual(
      commands.filter(({ line }) => !known.has(line)),
      [],
    )
    assert.ok(commands.length > 100)
  })

  test('the guide to the console has each filter of the English page', () => {
    const guide = read('docs/es/consola.md')
    const rows = [...read('docs/console.md').matchAll(/^\| (`[\p{L}-]+:[^|]*)\|/gmu)]
    const filters = rows.flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([\p{L}-]+:)/gu)].map(([, filter = '']) => filter),
    )
    assert.ok(filters.length > 20)
    assert.deepEqual(
      filters.filter((filter) => !guide.includes(`\`${filter}`) && !guide.includes(` ${filter}`)),
      [],
    )
  })

  test('the guide to the API of domains has each parameter of list', () => {
    const guide = read('docs/es/api-dominios.md')
    const { parameters } = Object(resolved(JSON.parse(openapiText))).paths['/api/v1/domainwatch/list'].get
    const names = parameters.map(({ name }: { readonly name: string }) => name)
    assert.ok(names.length > 30)
    assert.deepEqual(
      names.filter((name: string) => !guide.includes(`\`${name}\``)),
      [],
    )
  })
})
