import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { SERVICES } from '../../src/http/auth/key-limits.ts'
import { catalejo } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

/** What may follow a line, the last word of which is not complete. Sorted. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  [
    '',
    'account backup changes completion export help images import key migrate restore serve sign verify'.split(
      ' ',
    ),
  ],
  ['ba', ['backup']],
  ['key ', ['create', 'list', 'revoke']],
  ['help key r', ['revoke']],
  ['key create --s', ['--scope', '--service']],
  ['key create --service ', [...SERVICES].toSorted()],
  ['key create --account a --service im', ['imagestore']],
  ['key create --scope ', ['full', 'read', 'upload', 'write']],
  // Of two flags of one name each command has its own values.
  ['export --format ', ['csv', 'ndjson']],
  ['import --format ', ['csv', 'deletions', 'ndjson', 'registrations']],
  // A value that equals the name of a command is not a command.
  ['key create --account list --serv', ['--service']],
  ['serve --log-level tr', ['trace']],
  ['serve --dns-', ['--dns-in-flight', '--dns-mode', '--dns-resolvers', '--dns-servers']],
  ['verify --re', ['--repair']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['key revoke x --data data/', ['data/datos']],
  ['backup data/', ['data/datos']],
]

/** Runs a shell, with the completion script and the line in its environment. @returns its lines, sorted */
function run(shell: string, args: readonly string[], script: string, line: string, folder: string): string[] {
  const { status, stdout, stderr } = spawnSync(shell, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 120_000,
    env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', SCRIPT: script, LINE: line },
  })
  assert.deepEqual([status, stderr], [0, ''])
  const words = stdout.split('\n').filter((word) => word !== '')
  return [...new Set(words.map((word) => word.replace(/\/$/, '')))].toSorted()
}

const BASH = `
eval "$SCRIPT"
complete -p catalejo >/dev/null
# As readline takes a line apart.
read -ra COMP_WORDS <<<"catalejo \${LINE//=/ = }"
if [[ -z $LINE || $LINE == *' ' ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_catalejo 2>/dev/null
printf '%s\\n' "\${COMPREPLY[@]}"
`

/** zsh completes in a terminal only: the functions that take what completes are replaced by some that print it. */
const ZSH = `
compdef() { defined=$* }
eval "$SCRIPT"
[[ $defined == '_catalejo catalejo' ]] || exit 1
words=(catalejo \${=LINE})
if [[ -z $LINE || $LINE == *' ' ]]; then words+=(''); fi
CURRENT=$#words PREFIX=$words[-1]
matching() { print -l -- \${(M)@:#$PREFIX*} }
compset() { PREFIX=\${PREFIX#*=} }
compadd() { shift; matching "$@" }
_describe() { matching "\${items[@]%%:*}" }
_files() { matching data/*(N) }
_catalejo
`

const FISH = 'eval "$SCRIPT"; complete -C "catalejo $LINE" | string replace -r "\\t.*" ""; true'

const missing = (shell: string) =>
  spawnSync(shell, ['-c', 'exit 0']).status !== 0 && `${shell} is not installed`

suite('completion', () => {
  for (const [shell, args] of [
    ['bash', ['--norc', '--noprofile', '-c', BASH]],
    ['zsh', ['-f', '-c', ZSH]],
    ['fish', ['--no-config', '-c', FISH]],
  ] as const) {
    test(shell, { skip: missing(shell) }, async () => {
      await using folder = await temporaryFolder()
      await mkdir(join(folder.path, 'data'))
      await writeFile(join(folder.path, 'data', 'datos'), '')
      const { code, stdout, stderr } = await catalejo(['completion', shell])
      assert.deepEqual([code, stderr], [0, ''])
      for (const [line, wanted] of CASES) {
        assert.deepEqual(run(shell, args, stdout, line, folder.path), wanted, line)
      }
      const joined = run(shell, args, stdout, 'key create --service=im', folder.path)
      assert.deepEqual(
        joined.map((word) => word.replace(/^--service=/, '')),
        ['imagestore'],
      )
    })
  }
})
