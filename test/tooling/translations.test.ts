import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Spanish pages that follow an English page part by part. The others are organized by task. */
const TRANSLATIONS = new Map([
  ['docs/es/servidor-en-15-minutos.md', 'docs/operations/server-in-15-minutes.md'],
])

/** Returns the blocks of shell commands of a page, without comments. */
function getCommands(text: string): string[] {
  return [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) =>
    block.replaceAll(/(?:^|[ \t]+)# .*$/gm, '').trim(),
  )
}

/** Returns the levels of the headings of a page, in order. */
function getHeadingLevels(text: string): number[] {
  return [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^(#+) /gm)].map(([, { length } = '']) => length)
}

const toLines = (text: string) => getCommands(text).flatMap((block) => block.split('\n'))

describe('Spanish documentation', () => {
  const spanish = new Map<string, string>()
  const english: string[] = []
  before(async () => {
    for await (const path of glob(['README.md', 'docs/**/*.md'], { cwd: root })) {
      const text = await readFile(join(root, path), 'utf8')
      if (path.startsWith('docs/es/')) spanish.set(path, text)
      else english.push(text)
    }
  })

  for (const [translation, original] of TRANSLATIONS) {
    test(`${translation} has the headings and the commands of ${original}`, () => {
      assert.deepEqual(getHeadingLevels(read(translation)), getHeadingLevels(read(original)))
      assert.deepEqual(getCommands(read(translation)), getCommands(read(original)))
    })
  }

  test('every command of a Spanish page is one of an English page', () => {
    const known = new Set(english.flatMap(toLines))
    const unknown = [...spanish].flatMap(([path, text]) =>
      toLines(text).flatMap((line) => (known.has(line) ? [] : [`${path}: ${line}`])),
    )
    assert.deepEqual(unknown, [])
    assert.ok([...spanish.values()].flatMap(toLines).length > 100)
  })

  test('the guide to the console has each filter of the English page', () => {
    const guide = spanish.get('docs/es/consola.md') ?? ''
    const rows = [...read('docs/console.md').matchAll(/^\| (`[\p{L}-]+:[^|]*)\|/gmu)]
    const words = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([\p{L}-]+:)/gu)].map(([, word]) => word))
    assert.ok(words.length > 20)
    assert.deepEqual(
      words.filter((word) => !guide.includes(`\`${word}`) && !guide.includes(` ${word}`)),
      [],
    )
  })

  test('the guide to the API of domains has each parameter of list', () => {
    const guide = spanish.get('docs/es/api-dominios.md') ?? ''
    const list = JSON.parse(read('openapi.json')).paths['/api/v1/domainwatch/list'].get
    const parameters: readonly { name: string }[] = list.parameters
    assert.ok(parameters.length > 30)
    assert.deepEqual(
      parameters.map(({ name }) => name).filter((name) => !guide.includes(`\`${name}\``)),
      [],
    )
  })
})
