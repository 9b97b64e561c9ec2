/**
 * Prints the notes of a version from CHANGELOG.md, as a release publishes them: `node scripts/changelog.ts 0.1.0`. With --check
 * it prints nothing and exits 1 if the file is not in the form of Keep a Changelog.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { findChangelogProblems, toNotes, parseChangelog } from './release/changelog.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { file: { type: 'string', default: 'CHANGELOG.md' }, check: { type: 'boolean', default: false } },
})
const text = readFileSync(values.file, 'utf8')
if (values.check) {
  fail(findChangelogProblems(text).map((problem) => `${values.file}: ${problem}`))
} else {
  const [version = 'Unreleased'] = positionals
  const section = parseChangelog(text).find(({ name }) => name === version)
  const notes = section === undefined ? '' : toNotes(section)
  if (notes === '') fail([`${values.file} has no entry for ${version}`])
  else console.log(notes)
}

function fail(problems: readonly string[]): void {
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
