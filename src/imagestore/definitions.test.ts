import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readImageSettings } from './definitions.ts'
import { canonical, parseModifiers } from './modifiers/index.ts'

const HASH = 'a'.repeat(32)

test('presets and watermarks become names that links may use', () => {
  const read = readImageSettings(
    JSON.stringify({
      presets: { portada: 'w_1200,h_630,c_fill,f_auto,wm_logo', gris: 'gray' },
      watermarks: { logo: { image: HASH, at: 'ne', opacity: 50 }, sello: { image: HASH } },
    }),
  )
  assert.ok('presets' in read)
  const textOf = (modifier: string) => {
    const parsed = parseModifiers(modifier, undefined, read)
    return parsed.ok ? canonical(parsed.transformation) : parsed.fault
  }
  assert.equal(textOf('portada'), 'w_1200,h_630,c_fill,f_auto,wm_logo')
  // Explicit modifiers take precedence over a preset, which leaves the others at their defaults.
  assert.equal(textOf('p_portada,w_10'), 'w_10,h_630,c_fill,f_auto,wm_logo')
  assert.equal(textOf('gris.webp'), 'f_webp,gray')
  assert.equal(textOf('thumb,wm_sello'), 'w_160,h_160,wm_sello')
  assert.equal(textOf('thumb'), 'w_160,h_160')
  const takes = 'el nombre de una marca de agua que exista'
  assert.deepEqual(textOf('wm_otro'), { kind: 'range', token: 'wm_otro', takes })
  assert.deepEqual(read.watermarks.get('logo'), { image: HASH, at: 'ne', width: 25, margin: 3, opacity: 50 })
})

for (const [text, faults] of [
  ['{}', []],
  ['[]', ['must be an object']],
  ['null', ['must be an object']],
  ['{"preset": {}}', ['"preset" is not known: use one of "presets", "watermarks", "auto_format_cache"']],
  ['{"auto_format_cache": 1}', ['"auto_format_cache" takes "private" or "shared"']],
  ['{"presets": [], "watermarks": 3}', ['"watermarks" takes an object', '"presets" takes an object']],
  [
    '{"presets": {"A": "w_1", "x y": "w_1", "": "w_1"}}',
    ['A', 'x y', ''].map(
      (name) =>
        `presets: "${name}" is not a name: it must have at most 32 of a to z, 0 to 9 and hyphens, and no hyphen at the beginning`,
    ),
  ],
  [
    JSON.stringify({
      presets: {
        thumb: 'w_1',
        gray: 'w_1',
        '10x10': 'w_1',
        empty: '',
        number: 3,
        wide: 'w_0',
        twice: 'w_1,w_2',
        strange: 'zoom_2',
        nested: 'gray,thumb',
        marked: 'wm_none',
        signed: 'exp_2000000000',
      },
    }),
    [
      'presets: "thumb" is the name of a built-in one',
      'presets: "gray" is a modifier',
      'presets: "10x10" is a modifier',
      'presets: "empty" takes the text of modifiers',
      'presets: "number" takes the text of modifiers',
      'presets: "wide" has «w_0», which is not valid',
      'presets: "twice" has «w_2», which is repeated',
      'presets: "strange" has «zoom_2», which is unknown',
      'presets: "nested" has «thumb», which is unknown',
      'presets: "marked" has «wm_none», which is not valid',
      'presets: "signed" takes neither exp_ nor sig_',
    ],
  ],
  [
    JSON.stringify({
      presets: { fine: 'wm_a' },
      watermarks: {
        a: {},
        b: { image: HASH, at: 'top' },
        c: { image: HASH, width: 0 },
        d: { image: HASH, margin: '3' },
        e: { image: HASH, opacity: 101 },
        f: { image: HASH, alpha: 1 },
        g: HASH,
      },
    }),
    [
      'watermarks: "a" takes the hash of an image as "image"',
      'watermarks: "b" takes as "at" one of center, n, ne, e, se, s, sw, w, nw',
      'watermarks: "c" takes a number from 1 to 100 as "width"',
      'watermarks: "d" takes a number from 0 to 100 as "margin"',
      'watermarks: "e" takes a number from 1 to 100 as "opacity"',
      'watermarks: "f" has the unknown field "alpha": use image, at, width, margin, opacity',
      'watermarks: "g" takes an object with "image"',
    ],
  ],
] as const) {
  test(`${text.slice(0, 60)}: ${faults.length} faults`, () => {
    const read = readImageSettings(text)
    assert.deepEqual('faults' in read ? read.faults : [], faults)
  })
}

test('invalid JSON is reported as such', () => {
  const read = readImageSettings('{"presets": }')
  assert.ok('faults' in read && read.faults.length === 1)
  assert.match(read.faults[0] ?? '', /^it is not JSON: /)
})
