/** The filters are defined in one table. All that shows or describes them is compared with it. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { listParameters } from '../../src/domainwatch/list/domain-lists.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the console knows all filters', async () => {
  // Not by a literal: the types of the console are those of a browser.
  const filtersOfConsole: { readonly FILTER_NAMES: readonly string[] } = await import(
    new URL('../../console/features/filters/filters.ts', import.meta.url).href
  )
  assert.deepEqual(filtersOfConsole.FILTER_NAMES.toSorted(), Object.keys(listParameters).toSorted())
})

/** Filters of imported numbers are named after the keys of these. */
const documentedNames = (name: string) => (name === 'numbers' ? ['num_<key>_min', 'num_<key>_max'] : [name])

/** The tables of some pages: of each row its cells. */
async function getTables(pattern: string): Promise<string[][][]> {
  const tables: string[][][] = []
  for await (const path of glob(pattern, { cwd: root })) {
    const text = await readFile(`${root}/${path}`, 'utf8')
    for (const [table] of text.matchAll(/(?:^\|.*\n)+/gm)) {
      tables.push(
        table
          .trim()
          .split('\n')
          .map((row) => row.slice(1, -1).split(/(?<!\\)\|/)),
      )
    }
  }
  return tables
}

const codeIn = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, code]) => code ?? '')

test('the reference of the API describes all filters', async () => {
  const tables = await getTables('docs/{api.md,api/**/*.md}')
  const parameters = tables
    .map((rows) => rows.flatMap(([first = '']) => codeIn(first)))
    .filter((names) => names.includes('last_deleted') && names.includes('cursor'))
  assert.equal(parameters.length, 1, 'one table with the parameters of `list`')
  const described = parameters[0]?.filter((name) => !['api', 'limit', 'cursor', 'fields'].includes(name))
  assert.deepEqual(described, Object.keys(listParameters).flatMap(documentedNames))
})

test('the console page documents a word for each filter', async () => {
  const tables = await getTables('docs/console.md')
  const codes = tables.map((rows) => rows.flatMap((cells) => codeIn(cells.at(-1) ?? '')))
  const described = codes.find((names) => names.includes('last_deleted')) ?? []
  const worded = Object.keys(listParameters)
    .filter((name) => name !== 'search')
    .flatMap(documentedNames)
  assert.deepEqual(described.toSorted(), worded.toSorted())
})
