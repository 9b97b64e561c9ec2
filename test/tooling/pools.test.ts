/** The table of pools in the code is the one that operators read. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { POOLS } from '../../src/lib/pools.ts'

const page = readFileSync('docs/operations/limits.md', 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| '))

/** A limit as the page writes it: with separators, in seconds or MiB. */
function written(name: string, value: number): string {
  if (name.endsWith('Ms')) return `${value / 1_000} s`
  if (name.toLowerCase().endsWith('bytes'))
    return value < 2 ** 20 ? `${value / 2 ** 10} KiB` : `${value / 2 ** 20} MiB`
  return value.toLocaleString('en')
}

for (const [pool, limits] of Object.entries(POOLS)) {
  test(`the limits of ${pool} are documented`, () => {
    const row = rows.find((line) => line.includes(`(\`${pool}\``))
    assert.ok(row, `no row names \`${pool}\``)
    for (const [name, value] of Object.entries(limits)) {
      if (value === 0 || name === 'bulkWaitMs' || name === 'turnMs') continue
      assert.ok(row.includes(written(name, value)), `${name}: ${written(name, value)} is not in ${row}`)
    }
  })
}
