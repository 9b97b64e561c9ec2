import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { allTexts, type Texts } from './dictionary.ts'
import './texts.ts'

const placesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()
const folder = new URL('..', import.meta.url).pathname

test('both languages have the same placeholders, and each key is in one part only', async () => {
  const parts: Texts[] = []
  for (const file of globSync('i18n/texts/*.ts', { cwd: folder })) {
    const module: Readonly<Record<string, Texts>> = await import(`${folder}${file}`)
    parts.push(...Object.values(module))
  }
  const keys = parts.flatMap((part) => Object.keys(part))
  assert.ok(keys.length > 800)
  assert.deepEqual(keys.toSorted(), Object.keys(allTexts()).toSorted())
  for (const [key, [es, en]] of Object.entries(allTexts())) {
    assert.notEqual(es.trim(), '', key)
    assert.deepEqual(placesIn(en), placesIn(es), key)
  }
})

test('each text is used', () => {
  const sources = globSync('{api,base,design,features,shell}/**/*.{ts,tsx}', { cwd: folder }).map((file) =>
    readFileSync(`${folder}${file}`, 'utf8'),
  )
  const source = sources.join('\n')
  const unused = Object.keys(allTexts()).filter((key) => {
    // As a whole, or as a template that its first words begin.
    const stems = key.split('.').map((_, i, words) => `\`${words.slice(0, i + 1).join('.')}.\${`)
    const uses = [`'${key}'`, `"${key}"`, `\`${key}`, ...stems]
    return !uses.some((use) => source.includes(use))
  })
  assert.deepEqual(unused, [])
})
