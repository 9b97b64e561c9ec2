/**
 * Checks the spelling of documents with cspell (cspell.json, cspell-words.txt), and that they avoid some phrases
 * (scripts/language/phrases.ts). Exits 1 if it finds a problem. `--root` checks another folder.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findPhrases } from './language/phrases.ts'

/** What is checked. Add a folder of sources (`src/lib/**\/*.ts`) when its language is done. */
const CHECKED = ['*.md', 'docs/**/*.md', 'src/**/README.md']
/** Test data is no language. */
const EXCLUDED = ['**/*.test.ts']

const PROJECT = fileURLToPath(new URL('..', import.meta.url))
const CSPELL = fileURLToPath(import.meta.resolve('cspell/bin'))
const SPELLING_TIMEOUT_MS = 120_000

const { values } = parseArgs({ options: { root: { type: 'string', default: PROJECT } } })
const root = resolve(values.root)
const paths = globSync(CHECKED, { cwd: root, exclude: EXCLUDED }).sort()

const phrases = paths.flatMap((path) =>
  findPhrases(path, readFileSync(join(root, path), 'utf8')).map(
    ({ line, text, instead }) => `${path}:${line}: avoid «${text}», write: ${instead}`,
  ),
)
for (const problem of phrases) console.error(problem)

const spelling = spawnSync(
  process.execPath,
  [
    CSPELL,
    'lint',
    '--no-progress',
    '--no-summary',
    '--config',
    join(PROJECT, 'cspell.json'),
    '--root',
    root,
    ...paths,
  ],
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], timeout: SPELLING_TIMEOUT_MS },
)
const isClean = phrases.length === 0 && spelling.status === 0
if (isClean) console.log(`${paths.length} files have no spelling mistakes and no phrases to avoid`)
process.exitCode = isClean ? 0 : 1
