/**
 * Writes `test/fixtures/corpus`: a small stand-in, in the same layout, for the public corpora that CI tests with (PngSuite,
 * the list of naughty strings, IDNA vectors, EXIF orientation examples, a registry's monthly lists).
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { domainToASCII, fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import sharp, { type Sharp } from 'sharp'
import { randomFrom } from '../test/support/random.ts'

const FOLDER = fileURLToPath(new URL('../test/fixtures/corpus/', import.meta.url))

function write(path: string, bytes: string | Uint8Array): void {
  mkdirSync(dirname(FOLDER + path), { recursive: true })
  writeFileSync(FOLDER + path, bytes)
}

const NAUGHTY = [
  '',
  'undefined',
  'null',
  'NaN',
  'true',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '0',
  '-1',
  '1e1000',
  '0x10',
  '1,000.00',
  '١٢٣',
  ' ',
  '\t',
  ' espacios ',
  '\u00a0',
  '\u200b',
  '\u00ad',
  '\ufeff',
  '\u0085',
  ",./;'[]\\-=",
  '<>?:"{}|_+',
  '!@#$%^&*()`~',
  '%',
  '_',
  '%_\\%',
  '*?[a]',
  "'",
  '"',
  "''",
  '\\',
  '%00',
  '%0d%0a',
  '%2e%2e%2f',
  '&api=otra',
  'a=b;c=d',
  'Ω≈ç√∫˜µ≤≥÷',
  'İstanbul',
  'ẞ ß ſ',
  'ΑΣ ας',
  'ñandú',
  'n\u0303andu\u0301',
  '田中さんにあげて下さい',
  'مُنَاقَشَةُ',
  'שלום',
  '표준어',
  '👩‍👩‍👧‍👦',
  '🇨🇱',
  'Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮',
  '\u202etest\u202c',
  '\u2066test\u2069',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  '1; DROP TABLE domains; --',
  "' OR 1=1 --",
  '$(touch /tmp/x)',
  '`id`',
  '../../../../etc/passwd',
  'C:\\CON',
  '{{7*7}}',
  '${jndi:ldap://127.0.0.1/a}',
  '%s%n%x',
  '=1+1',
  '+1',
  '@SUM(1)',
  '/dev/null; touch x',
  'HTTP/1.1 200 OK\r\n\r\n',
  'a\nb',
  '\u001b[31m',
  'x'.repeat(300),
  '🔭'.repeat(100),
]

const LABELS = [
  'a',
  'casa',
  'CASA',
  'Casa-1',
  'a-b-c',
  'a1',
  '1a',
  'x'.repeat(63),
  'ñandú',
  'ÑANDÚ',
  'pingüino',
  'árbol',
  'lápiz',
  'búho',
  'éter',
  'iñaki',
  'ola-ñ',
  'niño',
  'año2025',
  'canción',
  'münchen',
  'cigüeña',
  'jalapeño',
]
const MUST_FAIL = [
  '',
  '.',
  '..',
  'a..b',
  '.a',
  'a b',
  'a\u0000b',
  'a%b',
  'a/b',
  'a?b',
  'a#b',
  'a:b',
  'a@b',
  'a[b',
  'a]b',
  'a|b',
  'a^b',
  'xn--',
  'xn--a',
  'xn--\u00f1',
  'xn--0',
  'a\u200bb\u0000',
  'x'.repeat(64),
  `${'ñ'.repeat(60)}`,
  '\u0301a',
  'xn--zzzzzz99999',
]

function idnaCases(labels: readonly string[]): string {
  const rows: unknown[] = [
    'Made by scripts/build-test-corpus.ts; outputs are those of the URL parser of Node.',
  ]
  for (const label of labels)
    for (const input of [label, label.normalize('NFD'), `${label}.casa`])
      rows.push({ input, output: domainToASCII(input) || null })
  for (const input of MUST_FAIL) rows.push({ input, output: null })
  return `${JSON.stringify(rows, null, 1)}\n`
}

/** A month as the registry lays it out: a head line, then the newest first. */
function registrations(month: string, seed: number): string {
  const random = randomFrom(seed)
  const syllables = [
    'ca',
    'sa',
    'ñu',
    'ble',
    'tí',
    'o',
    'mar',
    'ket',
    'chi',
    'le',
    '-',
    'web',
    '24',
    'pü',
    'lo',
  ]
  const pick = () => syllables[Math.floor(random() * syllables.length)] ?? ''
  const lines = Array.from({ length: 1_500 }, (_, index) => {
    const middle = Array.from({ length: 2 + Math.floor(random() * 5) }, pick).join('')
    const at = new Date(Date.UTC(2025, Number(month) - 1, 28, 23, 59, 59) - index * 1_499_000)
    const name = `d${middle.replaceAll('--', '-')}${month}x${index.toString(36)}.cl`
    return `${name},${at.toISOString().slice(0, 19).replace('T', ' ')}`
  })
  return ['Nombre Dominio,Fecha Inscripción', ...lines, ''].join('\n')
}

/** Shapes in which no side looks like another, so that a wrong turn shows. */
function scene(width: number, height: number): Sharp {
  return sharp(
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <linearGradient id="g" x2="1" y2="1"><stop stop-color="#fff"/><stop offset="1" stop-color="#135"/></linearGradient>
    <rect width="100%" height="100%" fill="url(#g)"/><rect x="8%" y="10%" width="30%" height="22%" fill="#c22"/>
    <circle cx="72%" cy="30%" r="12%" fill="#fd0"/><rect x="40%" y="60%" width="55%" height="14%" fill="#181"/>
    <circle cx="20%" cy="75%" r="9%" fill="#224"/></svg>`),
  ).removeAlpha()
}

/** The transformation of upright pixels that a viewer reverses by the orientation tag. */
const STORED: Readonly<Record<number, { readonly angle: number; readonly isMirrored?: boolean }>> = {
  1: { angle: 0 },
  2: { angle: 0, isMirrored: true },
  3: { angle: 180 },
  5: { angle: 90, isMirrored: true },
  6: { angle: 270 },
  8: { angle: 90 },
}

async function orientations(): Promise<void> {
  for (const [name, width, height] of [
    ['Landscape', 1_800, 1_200],
    ['Portrait', 1_200, 1_800],
  ] as const) {
    const upright = await scene(width, height).png().toBuffer()
    for (const [tag, { angle, isMirrored = false }] of Object.entries(STORED)) {
      const turned = await sharp(upright).rotate(angle).png().toBuffer()
      const jpeg = await sharp(turned)
        .flop(isMirrored)
        .withMetadata({ orientation: Number(tag) })
        .jpeg({ quality: 60 })
        .toBuffer()
      write(`orientation/${name}_${tag}.jpg`, jpeg)
    }
  }
}

async function pngs(): Promise<void> {
  const image = () => scene(48, 32)
  const valid: Record<string, Sharp> = {
    rgb: image().png(),
    'rgb-interlaced': image().png({ progressive: true }),
    'rgb-stored': image().png({ compressionLevel: 0 }),
    'rgb-filtered': image().png({ adaptiveFiltering: true }),
    'rgb-16': image().toColourspace('rgb16').png(),
    grey: image().greyscale().png(),
    'grey-16': image().toColourspace('grey16').png(),
    alpha: image().ensureAlpha(0.5).png(),
    palette: image().png({ palette: true, colours: 16 }),
    'palette-2': image().png({ palette: true, colours: 2 }),
    'one-pixel': scene(1, 1).png(),
    tall: scene(1, 40).png(),
  }
  for (const [name, sharpened] of Object.entries(valid))
    write(`png/valid/${name}.png`, await sharpened.toBuffer())
  const good = await image().png().toBuffer()
  const changed = (at: number, byte: number) => {
    const copy = Buffer.from(good)
    copy[at] = byte
    return copy
  }
  const damaged: Record<string, Uint8Array> = {
    'no-signature': changed(0, 0x88),
    'text-mode': Buffer.concat([good.subarray(0, 4), good.subarray(5)]),
    'crc-of-header': changed(29, (good[29] ?? 0) ^ 0xff),
    'colour-type-1': changed(25, 1),
    'bit-depth-3': changed(24, 3),
    'width-0': changed(19, 0),
    truncated: good.subarray(0, Math.floor(good.length / 2)),
    'no-data': Buffer.concat([good.subarray(0, 33), good.subarray(good.length - 12)]),
  }
  for (const [name, bytes] of Object.entries(damaged)) write(`png/damaged/${name}.png`, bytes)
}

rmSync(FOLDER, { recursive: true, force: true })
write('naughty-strings.json', `${JSON.stringify(NAUGHTY, null, 1)}\n`)
write('idna-toascii.json', idnaCases(LABELS))
write('idna-test-v2.json', idnaCases(LABELS.map((label) => `${label}.cl`)))
write('registrations/2025-05.csv.gz', gzipSync(registrations('05', 1)))
write('registrations/2025-06.csv.gz', gzipSync(registrations('06', 2)))
await orientations()
await pngs()
