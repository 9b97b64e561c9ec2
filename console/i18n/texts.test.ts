import assert from 'node:assert/strict'
import { test } from 'node:test'
import { en, es } from './dictionary.ts'
import { PARTS } from './texts.ts'
import { adding } from './texts/adding.ts'
import { stats } from './texts/stats.ts'
import { home } from './texts/home.ts'
import { images } from './texts/images.ts'
import { importing } from './texts/importing.ts'
import { admin } from './texts/admin.ts'
import { palette } from './texts/palette.ts'
import { sheet } from './texts/sheet.ts'
import { shortcuts } from './texts/shortcuts.ts'
import { signIn } from './texts/sign-in.ts'
import { triage } from './texts/triage.ts'
import { usage } from './texts/usage.ts'
import { watches } from './texts/watches.ts'

const placesIn = (text: string | undefined) => (text?.match(/\{\w+\}/g) ?? []).toSorted()

test('both languages have the same texts with the same placeholders, each in one part only', () => {
  const later = [
    adding,
    stats,
    home,
    images,
    importing,
    admin,
    palette,
    sheet,
    shortcuts,
    signIn,
    triage,
    usage,
  ]
  const keys = [...PARTS, ...later, watches].flatMap((part) => Object.keys(part.es))
  assert.deepEqual(keys.toSorted(), [...new Set(keys)].toSorted())
  assert.deepEqual(keys.toSorted(), Object.keys(es).toSorted())
  assert.deepEqual(Object.keys(en).toSorted(), Object.keys(es).toSorted())
  const english = new Map(Object.entries(en))
  for (const [key, text] of Object.entries(es)) {
    assert.notEqual(text.trim(), '', key)
    assert.deepEqual(placesIn(english.get(key)), placesIn(text), key)
  }
})
