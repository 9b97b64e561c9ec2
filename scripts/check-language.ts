/**
 * Checks the language of documents and sources: the spelling with cspell (cspell.json, cspell-words.txt), and that they
 * avoid some phrases (scripts/language/phrases.ts). In sources it checks what people read (scripts/language/prose.ts) and
 * names (scripts/language/names.ts), in openapi.json the descriptions (scripts/language/descriptions.ts). Exits 1 if it finds a problem. `--root` checks another folder.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { findDescriptionProblems } from './language/descriptions.ts'
import { findNames } from './language/names.ts'
import { findPhrases } from './language/phrases.ts'
import { getProse } from './language/prose.ts'

const DOCUMENTS = ['*.md', 'docs/**/*.md', 'src/**/README.md']
const SOURCES = ['{src,console,test,scripts,bench,clients}/**/*.{ts,tsx,js}']
/** Generated files, released files, data, and shell scripts. */
const EXCLUDED = [
  '**/node_modules/**',
  '**/*-wasm.ts',
  'clients/js/dist/**',
  'clients/js/schema.ts',
  'test/generated-clients/generated/**',
  'src/storage/database/migrations/**',
  'src/domainwatch/words.ts',
  'scripts/language/phrases.ts',
]

const PROJECT = fileURLToPath(new URL('..', import.meta.url))
const CSPELL = fileURLToPath(import.meta.resolve('cspell/bin'))
const SPELLING_TIMEOUT_MS = 120_000

const { values } = parseArgs({ options: { root: { type: 'string', default: PROJECT } } })
const root = resolve(values.root)
const paths = globSync([...DOCUMENTS, ...SOURCES], { cwd: root, exclude: EXCLUDED }).sort()
const sources = paths.map((path): [string, string] => [path, readFileSync(join(root, path), 'utf8')])
const texts = sources.map(([path, text]): [string, string] => [
  path,
  path.endsWith('.md') ? text : getProse(path, text),
])

const phrases = texts.flatMap(([path, text]) =>
  findPhrases(path, text).map(
    ({ line, text: found, instead }) => `${path}:${line}: avoid «${found}», write: ${instead}`,
  ),
)
const names = sources.flatMap(([path, text]) => (path.endsWith('.md') ? [] : findNames(path, text)))
const openapi = join(root, 'openapi.json')
const descriptions = existsSync(openapi)
  ? findDescriptionProblems(JSON.parse(readFileSync(openapi, 'utf8'))).map(
      (problem) => `openapi.json: ${problem}`,
    )
  : []
const problems = [...phrases, ...names, ...descriptions]
for (const problem of problems) console.error(problem)

const isClean = isSpelledCorrectly() && problems.length === 0
if (isClean) console.log(`${paths.length} files have no spelling mistakes and no phrases or names to avoid`)
process.exitCode = isClean ? 0 : 1

/** Runs cspell on copies of the texts, which have lines and columns of the originals. */
function isSpelledCorrectly(): boolean {
  const copies = mkdtempSync(join(tmpdir(), 'catalejo-language-'))
  try {
    for (const [path, text] of texts) {
      mkdirSync(dirname(join(copies, path)), { recursive: true })
      writeFileSync(join(copies, path), text)
    }
    const options = [
      '--no-progress',
      '--no-summary',
      '--config',
      join(PROJECT, 'cspell.json'),
      '--root',
      copies,
    ]
    const { status } = spawnSync(process.execPath, [CSPELL, 'lint', ...options, '--dot', '.'], {
      cwd: copies,
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: SPELLING_TIMEOUT_MS,
    })
    return status === 0
  } finally {
    rmSync(copies, { recursive: true })
  }
}
