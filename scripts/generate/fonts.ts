/**
 * Cuts the console's two typefaces down to the letters of its languages, into console/design/fonts, whose files are committed.
 * Both are under the SIL Open Font License 1.1, which allows it; neither reserves its name.
 */
import { readFile } from 'node:fs/promises'
import subset from 'subset-font'

const FONTS = [
  ['@fontsource/inter/files/inter-latin-400-normal.woff2', 'inter-400.woff2'],
  ['@fontsource/inter/files/inter-latin-600-normal.woff2', 'inter-600.woff2'],
  ['@fontsource/jetbrains-mono/files/jetbrains-mono-latin-400-normal.woff2', 'jetbrains-mono-400.woff2'],
] as const

/** Latin-1, which holds all of .cl, and the signs that texts here are set with. */
const CODE_POINTS = [
  ...Array.from({ length: 0x7f - 0x20 }, (_, i) => 0x20 + i),
  ...Array.from({ length: 0x100 - 0xa0 }, (_, i) => 0xa0 + i),
  ...[...'–—‘’“”•…€−×↑↓'].map((sign) => sign.codePointAt(0) ?? 0),
]

/** Kerning and accents, figures of one width, the zero with a stroke. Ligatures would make of `->` what is not in a name. */
const FEATURES = ['kern', 'mark', 'ccmp', 'locl', 'tnum', 'zero']

export async function generate(): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>()
  for (const [from, to] of FONTS) {
    const font = await readFile(new URL(import.meta.resolve(from)))
    const text = String.fromCodePoint(...CODE_POINTS)
    const small = await subset(font, text, { targetFormat: 'woff2', keepFeatures: FEATURES })
    files.set(`console/design/fonts/${to}`, small)
  }
  return files
}
