/**
 * Writes assets/words/words.txt, the Spanish and English words that stand beside brands in names, from the ranked lists of two
 * packages (OpenSubtitles by way of OPUS, ODC-BY). `--check` only compares, and exits 1 if they differ.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { dictionary as english } from '@zxcvbn-ts/language-en'
import { dictionary as spanish } from '@zxcvbn-ts/language-es-es'

const TARGET = new URL('../assets/words/words.txt', import.meta.url)
/** Of each language and length the most frequent by rank: short rare ones would be found in any text. */
const MAX_RANKS = { spanish: [0, 0, 0, 1_500, 8_000, Infinity], english: [0, 0, 0, 800, 3_000, 12_000] }

const HEADER = [
  '# The most frequent Spanish and English words, most frequent first, without accents.',
  '# Derived from OpenSubtitles 2024 by way of OPUS (https://opus.nlpl.eu/, Helsinki-NLP), under the Open Data Commons',
  '# Attribution License (ODC-BY), as ranked by @zxcvbn-ts/language-es-es and @zxcvbn-ts/language-en (MIT).',
]

/** Names are written without accents as a rule. The tilde of ñ is kept: it makes another letter. */
const plain = (word: string) => word.replaceAll(/[áéíóúü]/g, (letter) => letter.normalize('NFD').charAt(0))

function wordsOf(ranked: readonly string[], maxRanks: readonly number[]): string[] {
  return ranked
    .map(plain)
    .filter((word, rank) => rank < (maxRanks[Math.min(word.length, 5)] ?? 0) && /^[a-zñ]+$/.test(word))
}

const words = new Set([
  ...wordsOf(spanish['commonWords-es-es'], MAX_RANKS.spanish),
  ...wordsOf(english['commonWords-en'], MAX_RANKS.english),
])
const text = [...HEADER, ...words, ''].join('\n')
if (process.argv.includes('--check')) {
  if ((await readFile(TARGET, 'utf8').catch(() => '')) !== text) {
    console.error('assets/words/words.txt is not what the packages say: run npx node scripts/build-words.ts')
    process.exitCode = 1
  }
} else await writeFile(TARGET, text)
