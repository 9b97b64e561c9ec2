import assert from 'node:assert/strict'
import { glob, readFile, stat } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { CatalejoCommand } from '../../src/cli/command.ts'
import { createProgram } from '../../src/cli/program.ts'
import { environmentName, settings } from '../../src/server/config/settings.ts'
import { catalejo, catalejoHere } from '../support/cli.ts'

const program = createProgram()
const commands = withGroups(program)

function withGroups(command: CatalejoCommand): CatalejoCommand[] {
  const parts = command.commands.filter((one) => one instanceof CatalejoCommand)
  return [command, ...parts.flatMap(withGroups)]
}

const isSetting = (flag: string) => Object.values(settings).some(({ name }) => flag === `--${name}`)

/** The flags of a command that are not settings. */
const ownFlags = (command: CatalejoCommand) =>
  command.options.flatMap(({ long }) => (long === undefined || isSetting(long) ? [] : [long]))

/** Lines, each beginning with a space, below a heading. */
function section(help: string, heading: string): string {
  const [, rest = ''] = help.split(`\n${heading}\n`)
  return rest.split(/\n(?! )/)[0] ?? ''
}

suite('help', () => {
  for (const command of commands) {
    test(['catalejo', ...command.path, '--help'].join(' '), async () => {
      const { code, stdout, stderr } = await catalejoHere([...command.path, '--help'])
      assert.deepEqual([code, stderr], [0, ''])
      assert.ok(stdout.startsWith(`${['Usage: catalejo', ...command.path].join(' ')} `), stdout)
      const examples = stdout.indexOf('\nExamples:\n')
      const wide = stdout.slice(0, examples === -1 ? undefined : examples).split('\n')
      assert.deepEqual(
        wide.filter((line) => line.length > 80),
        [],
      )
      for (const flag of ownFlags(command)) {
        const option = command.options.find(({ long }) => long === flag)
        const text = stdout.replaceAll(/\s+/g, ' ')
        assert.ok(text.includes(option?.description ?? ''), flag)
        for (const choice of option?.argChoices ?? []) assert.ok(text.includes(`"${choice}"`), flag)
        if (option?.defaultValue !== undefined)
          assert.ok(text.includes(`default: "${option.defaultValue}"`), flag)
        if (option?.mandatory === true) assert.ok(text.includes('(required)'), flag)
      }
      for (const argument of command.registeredArguments) {
        assert.match(section(stdout, 'Arguments:'), new RegExp(String.raw`^  ${argument.name()}  `, 'm'))
      }
      if (command.commands.length === 0) assert.notEqual(section(stdout, 'Examples:'), '')
    })
  }

  // The program, a group of commands and a command.
  for (const path of [[], ['key'], ['serve']]) {
    test(['catalejo help', ...path].join(' '), async () => {
      const help = await catalejoHere([...path, '--help'])
      assert.deepEqual(await catalejoHere([...path, '-h']), help)
      assert.deepEqual(await catalejoHere(['help', ...path]), help)
    })
  }

  test('the list has every command', async () => {
    // Settings are not looked at.
    const { code, stdout } = await catalejo(['--help'], {
      CATALEJO_PORT: 'wrong',
      CATALEJO_DATA: '/dev/null/none',
    })
    assert.equal(code, 0)
    const listed = [...section(stdout, 'Commands:').matchAll(/^  ([a-z]+)/gm)].map(([, name]) => name)
    assert.deepEqual(listed, [...program.commands.map((command) => command.name()), 'help'])
  })

  test('serve has every setting by topic, with variable, default and meaning', async () => {
    const { stdout } = await catalejoHere(['serve', '--help'])
    for (const { topic, name, placeholder, summary, defaultText } of Object.values(settings)) {
      const text = section(stdout, topic).replaceAll(/\s+/g, ' ')
      const at = text.indexOf(` --${name} <${placeholder}> ${summary} (`)
      assert.notEqual(at, -1, name)
      const [entry = ''] = text.slice(at + 1).split(/ --(?=[a-z-]+ <)/)
      const start = defaultText === '' ? '(' : `(default: ${defaultText}, `
      assert.ok(entry.trimEnd().endsWith(`${start}env: ${environmentName(name)})`), entry)
    }
  })

  test('a command lists its main settings and refers to the full list', async () => {
    const { stdout } = await catalejoHere(['key', 'list', '--help'])
    const listed = [...section(stdout, 'Storage:').matchAll(/^ {2}(--\S+ \S+)/gm)].map(([, flag]) => flag)
    assert.deepEqual(listed, ['--data <DIR>', '--database-url <URL>'])
    assert.ok(stdout.includes('To list them: catalejo serve --help'))
    const shown = program
      .leaves()
      .flatMap(({ shownSettings }) => (shownSettings === 'all' ? [] : shownSettings))
    assert.deepEqual(
      shown.filter((name) => !isSetting(`--${name}`)),
      [],
    )
  })

  test('version', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    assert.deepEqual(await catalejo(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' })
  })
})

suite('usage errors are one line, with the most similar command or flag', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['volar', "unknown command 'volar'; see catalejo --help"],
    ['serv', "unknown command 'serv', did you mean serve?"],
    ['bakcup x', "unknown command 'bakcup', did you mean backup?"],
    ['key lits', "unknown command 'lits', did you mean list?"],
    ['--dta x', "unknown option '--dta', did you mean --data?"],
    [
      'key create --service admin',
      "required option '--account <NAME>' not specified; see catalejo key create --help",
    ],
    [
      'key create --account a --service admin --scpoe read',
      "unknown option '--scpoe', did you mean --scope?",
    ],
    ['verify --repiar', "unknown option '--repiar', did you mean --repair?"],
    ['key list --hepl', "unknown option '--hepl', did you mean --help?"],
    ['key list --log-levle info', "unknown option '--log-levle', did you mean --log-level?"],
    ['serve --zzzzzz', "unknown option '--zzzzzz'; see catalejo serve --help"],
    ['serve -x', "unknown option '-x'; see catalejo serve --help"],
    // A value may be secret.
    [
      'verify --databse-url=postgres://u:secret@h/d',
      "unknown option '--databse-url', did you mean --database-url?",
    ],
    [
      'serve now',
      "too many arguments for 'serve'. Expected 0 arguments but got 1; see catalejo serve --help",
    ],
    ['restore', "missing required argument 'PLACE'; see catalejo restore --help"],
    ['backup', 'name a PLACE, or set --backup-to'],
    ['backup --keep', "option '--keep <N>' argument missing; see catalejo backup create --help"],
    [
      'export --format xml',
      "option '--format <FORMAT>' argument 'xml' is invalid. Allowed choices are csv, ndjson; see catalejo export --help",
    ],
    [
      'verify --data --repair',
      "option '--data <DIR>' argument '--repair' is invalid. It needs a value before the next flag; see catalejo --help",
    ],
    ['account set a', 'account set needs --delivery MODE, --max-bytes N or --max-images N'],
  ]
  for (const [line, message] of cases) {
    test(`catalejo ${line}`, async () => {
      const wanted = { code: 2, stdout: '', stderr: `catalejo: ${message}\n` }
      assert.deepEqual(await catalejoHere(line.split(' ')), wanted)
      if (line === 'serv') assert.deepEqual(await catalejo([line]), wanted)
    })
  }
})

test('the command line page documents exactly the existing commands, arguments and flags', async () => {
  const page = await readFile(new URL('../../docs/operations/command-line.md', import.meta.url), 'utf8')
  const [, rest = ''] = page.split('\n## Commands\n')
  const [table = ''] = rest.split('\n## ')
  const rows = [...table.matchAll(/^\| `(catalejo [^`]+)` +\| (.*?) +\|/gm)]
  const documented = rows.map(([, line, flags = '']) => [
    line,
    ...[...flags.matchAll(/`(--[a-z-]+)`/g)].map(([, flag]) => flag),
  ])
  const defined = program.leaves().map((command) => {
    const [, line = ''] = /^Usage: (.*)$/m.exec(command.helpInformation()) ?? []
    const words = line.replaceAll(/ \[options\]|[<>]/g, '')
    return [words, ...ownFlags(command)]
  })
  assert.deepEqual(documented, defined)
})

test('command lines in all documents use existing commands and flags', async () => {
  const root = new URL('../../', import.meta.url)
  const wrong: string[] = []
  let count = 0
  for await (const path of glob(['*.md', 'docs/**/*.md', 'deploy/**/*'], { cwd: root })) {
    if (!(await stat(new URL(path, root))).isFile()) continue
    const text = await readFile(new URL(path, root), 'utf8')
    for (const [, line = ''] of text.matchAll(/\bcatalejo(?:\.js)? ((?:[a-z]+|--[a-z-]+)\b[^`\n#|]*)/g)) {
      const words = line.trim().split(/\s+/)
      let command = program
      while (command.commands.length > 0) {
        const next = withGroups(command).find((one) => one.parent === command && one.name() === words[0])
        if (next === undefined) break
        command = next
        words.shift()
      }
      // Prose that has the name of the program in it.
      if (command === program && !line.startsWith('--')) continue
      count++
      const known = ['--help', '--version', ...program.options, ...command.options].map((one) =>
        typeof one === 'string' ? one : one.long,
      )
      const flags = words.flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? [])
      if (!flags.every((flag) => known.includes(flag))) wrong.push(`${path}: ${line}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(count > 40)
})
