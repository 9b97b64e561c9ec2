/**
 * Writes assets/words/words.txt, the Spanish and English words that domain names are made of, from the ranked lists of two
 * packages (OpenSubtitles by way of OPUS, ODC-BY) and a short list of our own. `--check` only compares, and exits 1 if they differ.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { dictionary as english } from '@zxcvbn-ts/language-en'
import { dictionary as spanish } from '@zxcvbn-ts/language-es-es'

const TARGET = new URL('../assets/words/words.txt', import.meta.url)
/** Of each language and length the most frequent by rank: short rare ones would be found in any text. */
const MAX_RANKS = { spanish: [0, 0, 0, 1_500, 8_000, Infinity], english: [0, 0, 0, 800, 3_000, 12_000] }
/** All words of one and two letters: the lists have many that are none. */
const SHORT_WORDS = {
  spanish: new Set('y al da de el en es ha la le lo me mi no se si su te ti tu tv un va ya yo'.split(' ')),
  english: new Set('am at be by do go hi if in is it me my no of ok on or so to tv up us we'.split(' ')),
}
/** Words of Chilean trade that subtitles seldom have, and places. They rank as words of medium frequency. */
const CHILEAN_WORDS = (
  'aridos arriendo arriendos asesorias automotora aysen banqueteria barberia botilleria calama carniceria casablanca cerrajeria ' +
  'chillan chiloe colchagua colina comercializadora concon consultores contabilidad copiapo coquimbo coyhaique curico despachos ' +
  'distribuidora emporio empresas estetica eventos ferreteria florerias frutillar gasfiter gasfiteria iquique jardines kinesiologia ' +
  'lampa lebu limpieza linares llanquihue lonquen machali maipo maipu maule melipilla montajes mudanzas nunoa nutricionista ' +
  'odontologia olmue osorno outlet ovalle panguipulli parcelas pasteleria penaflor petorca pichilemu propiedades providencia ' +
  'psicologia pucon pudahuel pymes quillota quilpue quilicura quinchao rancagua renca repuestos rinconada talagante talca talcahuano ' +
  'tecno temuco tocopilla torres transportes traslados tech valdivia vallenar valparaiso veterinaria villarrica vitacura ñuñoa'
).split(' ')
const CHILEAN_RANK = 5_000

const HEADER = [
  '# Spanish and English words, most frequent first, without accents, and words of Chilean trade.',
  '# Derived from OpenSubtitles 2024 by way of OPUS (https://opus.nlpl.eu/, Helsinki-NLP), under the Open Data Commons',
  '# Attribution License (ODC-BY), as ranked by @zxcvbn-ts/language-es-es and @zxcvbn-ts/language-en (MIT).',
]

/** Names are written without accents as a rule. The tilde of ñ is kept: it makes another letter. */
const plain = (word: string) => word.replaceAll(/[áéíóúü]/g, (letter) => letter.normalize('NFD').charAt(0))

type Ranked = readonly [word: string, rank: number]

function wordsOf(ranked: readonly string[], language: 'spanish' | 'english'): Ranked[] {
  const isWanted = (word: string, rank: number) =>
    word.length < 3
      ? SHORT_WORDS[language].has(word)
      : rank < (MAX_RANKS[language][Math.min(word.length, 5)] ?? 0) && /^[a-zñ]+$/.test(word)
  return ranked.map((word, rank): Ranked => [plain(word), rank]).filter((entry) => isWanted(...entry))
}

const ranked: readonly Ranked[] = [
  ...wordsOf(spanish['commonWords-es-es'], 'spanish'),
  ...wordsOf(english['commonWords-en'], 'english'),
  ...CHILEAN_WORDS.map((word): Ranked => [word, CHILEAN_RANK]),
].toSorted(([, one], [, other]) => one - other)
const text = [...HEADER, ...new Set(ranked.map(([word]) => word)), ''].join('\n')
if (process.argv.includes('--check')) {
  if ((await readFile(TARGET, 'utf8').catch(() => '')) !== text) {
    console.error('assets/words/words.txt is not what the packages say: run npx node scripts/build-words.ts')
    process.exitCode = 1
  }
} else await writeFile(TARGET, text)
