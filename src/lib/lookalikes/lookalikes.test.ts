import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BestMatches, Matcher, MAX_DISTANCE, type NameBlock } from './matcher.ts'
import { TOO_MUCH } from './distance.ts'
import { explain } from './explain.ts'
import { toOctets } from './letters.ts'
import { referenceCost, referenceInside, vocabulary } from '../../../test/support/similar-reference.ts'
import { variants } from '../../../test/support/similar-variants.ts'

/** Reasons why a name resembles another, in their order. */
const RESEMBLE: readonly [name: string, other: string, reasons: string][] = [
  ['mibanco', 'mibancó', 'accent'],
  ['ñandú', 'nandu', 'accent accent'],
  ['mibanco', 'mibanc0', 'homoglyph'],
  ['paypal', 'paypa1', 'homoglyph'],
  ['linea', 'iinea', 'homoglyph'],
  ['mibanco', 'm1b4nc0', 'homoglyph homoglyph homoglyph'],
  ['modelo', 'rnodelo', 'homoglyph'],
  ['arnes', 'ames', 'homoglyph'],
  ['web', 'vveb', 'homoglyph'],
  ['dental', 'clental', 'homoglyph'],
  ['clinica', 'dinica', 'homoglyph'],
  ['sii', '5ii', 'homoglyph'],
  ['luna', 'lvna', 'homoglyph'],
  ['mibanco', 'mi-banco', 'hyphenation'],
  ['mi-ban-co', 'mibanco', 'hyphenation hyphenation'],
  ['mibanco', 'mbianco', 'transposition'],
  ['mibanco', 'mibbanco', 'repetition'],
  ['casa', 'casas', 'plural'],
  ['casas', 'casa', 'plural'],
  ['mibanco', 'mibonco', 'vowel-swap'],
  ['mibanco', 'mobanco', 'vowel-swap'],
  ['mibanco', 'nibanco', 'homoglyph'],
  ['mibanco', 'mibanxo', 'replacement'],
  ['mibanco', 'mibanko', 'bitsquatting'],
  ['mibanco', 'mibnco', 'omission'],
  ['mibanco', 'mibannco', 'repetition'],
  ['mibanco', 'mibanzco', 'insertion'],
  ['mibanco', 'mibancoz', 'addition'],
  ['mibanco', 'mibanco-chile', 'word'],
  ['mibanco', 'loginmibanco', 'word'],
  ['mibanco', 'portal-mi-banc0-seguro', 'word word hyphenation homoglyph'],
  ['mibanco', 'elmibancodetodos', 'word word'],
  ['bci', 'bci-pagos', 'word'],
  ['bci', 'bcichile', 'word'],
  ['bci', 'httpsbci', 'word'],
  ['bci', 'bciorg', 'word'],
  ['mibanco', 'banco', 'subdomain'],
  ['mibanco', 'mibnaoc', 'transposition transposition'],
  ['bancoestado', 'bancestado-login', 'word omission'],
  ['bancoestado', 'bancodelestado', 'word'],
  ['bancoestado', 'soportetecnicobanconestado', 'word insertion'],
  ['santander', 'santader-login', 'word omission'],
  ['santander', 'zantanderpagos', 'word replacement'],
  ['falabella', 'falabela-login', 'word omission'],
  ['falabella', 'bancofallabella-cupo', 'word word repetition'],
  ['chilexpress', 'chilexpess-paquete', 'word omission'],
  ['paris', 'pari-login', 'word plural'],
  ['sii', 'impuestossii', 'word'],
  ['sii', 'devolucionsii', 'word'],
  ['sii', 'siicontigo', 'word'],
  ['hp', 'soportehp', 'word'],
  ['sii', 'siii', 'repetition'],
  ['bci', 'bcis', 'plural'],
  ['cge', 'cge365', 'word'],
  ['sii', 'dte-sii2026', 'word word'],
  ['bice', 'campusbice', 'word'],
  ['sag', 'terceroautorizadosag', 'word'],
]

for (const [name, other, reasons] of RESEMBLE) {
  test(`${other} resembles ${name}: ${reasons}`, () => {
    const matcher = new Matcher(name, vocabulary)
    assert.notEqual(getCost(matcher, other), TOO_MUCH)
    const changes = explain(matcher, name, other)
    assert.equal(changes.map(({ reason }) => reason).join(' '), reasons)
  })
}

const DIFFER: readonly [name: string, other: string][] = [
  ['mibanco', 'mibanco'],
  ['mibanco', 'otracosa'],
  ['mibanco', 'xibaxxo'],
  ['mibanco', 'mi'],
  ['bci', 'bcixyz'],
  ['bci', 'abcin'],
  ['mi-banco', 'xyz'],
  ['sii', 'wil'],
  ['sii', 'd-ii'],
  ['sii', 'siixyz'],
  ['sii', 'pasiion'],
  ['sii', 'sillastop'],
  ['a', 'alogin'],
  ['paris', 'maris-sol'],
  ['casa', 'cosalogin'],
  ['sii', 'sik'],
  ['sii', 'sini'],
  ['bci', 'bcf'],
  ['bice', 'bicentenariochiloe'],
  ['sag', 'maquinasagricolas'],
  ['wom', 'freewomen'],
]

for (const [name, other] of DIFFER) {
  test(`${other} does not resemble ${name}`, () =>
    assert.equal(getCost(new Matcher(name, vocabulary), other), TOO_MUCH))
}

test('a maximum distance excludes what costs more, and includes errors in short names', () => {
  const found = (name: string, others: readonly string[], maxDistance?: number) =>
    others.filter((other) => new Matcher(name, vocabulary, maxDistance).resembles(other))
  const like = ['mibanc0', 'mibanco-chile', 'loginmibanco', 'mibanko', 'mibancodelsur', 'banco']
  assert.deepEqual(found('mibanco', like), like)
  assert.deepEqual(found('mibanco', like, 9), like.slice(0, 4))
  assert.deepEqual(found('mibanco', like, 2), like.slice(0, 1))
  assert.deepEqual(found('bci', ['bcl', 'bcj', 'bcf'], 24), ['bcl', 'bcj'])
  assert.deepEqual(found('bci', ['bcl', 'bcj', 'bcf'], 30), ['bcl', 'bcj', 'bcf'])
})

test('more alike names cost less', () => {
  const others = ['mibancó', 'mi-banco', 'mibanco-chile', 'mbianco', 'mibnco', 'mibancodelsur', 'mibnao']
  const matcher = new Matcher('mibanco', vocabulary)
  const costs = others.map((other) => getCost(matcher, other))
  assert.deepEqual(
    costs.toSorted((a, b) => a - b),
    costs,
  )
})

/** The second one has the letters of pairs that look alike. */
const ALPHABETS = ['abcdeghiklmnorstuvw0158-áéñü', 'mdwkbhrnvcl']
const aName = fc
  .tuple(fc.constantFrom(...ALPHABETS), fc.constantFrom(12, 12, 12, 12, 34))
  .chain(([letters, maxLength]) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength }))
  .map((text) => text.replaceAll(/^-+|-+$/g, ''))
  .filter((text) => text !== '')
const anEdit = fc.record({
  at: fc.nat(40),
  kind: fc.nat(4),
  by: fc.constantFrom(...ALPHABETS.join(''), 'rn', 'vv', 'cl', 'nn', 'lc', 'lb', 'login-', '-s'),
})
function edited(text: string, { at, kind, by }: { at: number; kind: number; by: string }): string {
  const place = at % (text.length + 1)
  const [left, right] = [text.slice(0, place), text.slice(place)]
  if (kind === 0) return left + right.slice(1)
  if (kind === 1) return left + by + right.slice(1)
  if (kind === 2) return left + right.slice(1, 2) + right.slice(0, 1) + right.slice(2)
  return left + by + right
}
const aPair = fc.tuple(aName, fc.array(anEdit, { maxLength: 4 })).map(([name, edits]) => {
  const other = edits.reduce(edited, name)
  return [name, other.replaceAll(/^-+|-+$/g, '').slice(0, 63) || 'a'] as const
})

test('the cost of edits is that of the reference', () => {
  fc.assert(
    fc.property(aPair, ([name, other]) => {
      const matcher = new Matcher(name, vocabulary)
      const octets = toOctets(other)
      const cost = referenceCost(name, other)
      const wanted = cost <= matcher.maxCost ? cost : TOO_MUCH
      assert.equal(matcher.distance.compare(octets, 0, octets.length, matcher.maxCost), wanted)
    }),
    { numRuns: 500 },
  )
})

test('the cost of a name inside another is that of the reference', () => {
  const word = fc.constantFrom('login', 'soportetecnico', 'contigo', 'zzq', '-x', 'del', 's', '')
  const aDressedPair = fc.tuple(aName, fc.array(anEdit, { maxLength: 2 }), word, word, fc.boolean())
  fc.assert(
    fc.property(aDressedPair, ([name, edits, left, right, isHyphenated]) => {
      const changed = edits.reduce(edited, name)
      const joint = isHyphenated ? '-' : ''
      const other = `${left}${joint}${changed}${joint}${right}`.replaceAll(/^-+|-+$/g, '').slice(0, 63) || 'a'
      const octets = toOctets(other)
      const { cost } = new Matcher(name, vocabulary).containment.find(octets, 0, octets.length)
      const wanted = referenceInside(name, other, vocabulary)
      assert.equal(cost >= TOO_MUCH ? Infinity : cost, wanted, `${name} in ${other}`)
    }),
    { numRuns: 600 },
  )
})

test('a scan finds exactly the names that the definition accepts', () => {
  fc.assert(
    fc.property(fc.array(aPair, { minLength: 1, maxLength: 10 }), (pairs) => {
      const names = [...new Set(pairs.flat())]
      const block = toBlock(names)
      for (const [name] of pairs) {
        const matcher = new Matcher(name, vocabulary)
        const wanted = names.filter((other) => getCost(matcher, other) !== TOO_MUCH)
        assert.deepEqual(scan(matcher, block), wanted)
        assert.deepEqual(scan(matcher, { ...block, namesWith: undefined }), wanted)
      }
    }),
    { numRuns: 150 },
  )
})

test('a letter pair is matched up to its second letter', () => {
  const pairs = [
    ['kcwhww', 'wchwvv'],
    ['hlwdd', 'hllbwcld'],
    ['lrkmokew', 'lrmoekvv'],
    ['llonncvnrhravkkokhmdvhmcdcvb', 'llonncvrnhroavkkokhrndvhmcdcvb'],
  ] as const
  for (const [name, other] of pairs) {
    assert.deepEqual(scan(new Matcher(name, vocabulary), toBlock([other])), [other])
  }
})

test('the filters count letters as edits, homoglyphs and pairs change them', () => {
  const pairs = [
    // An edit of one letter to two, and of two to one.
    ['maker', 'malcez'],
    ['palco', 'peko'],
    // Homoglyphs of one letter and two, besides edits.
    ['wed', 'vvecl'],
    ['arnes', 'amex'],
    ['mado', 'rnaclx'],
    ['clarnes', 'dame'],
    // The second half begins with a letter of a pair.
    ['bodegarnuble', 'bxdegamublelogin'],
    ['casa-24', 'a-24'],
  ] as const
  for (const [name, other] of pairs) {
    assert.deepEqual(scan(new Matcher(name, vocabulary), toBlock([other])), [other])
  }
})

test('no kind of change is missed', () => {
  const names = ['mibanco', 'clinica-dental', 'warner', 'ñandú', 'construccionesdelsurlimitadaymuchomas']
  // Errors in short names are matches only if asked for.
  const matchers = [
    ...names.map((name) => [name, new Matcher(name, vocabulary)] as const),
    ['bci', new Matcher('bci', vocabulary, MAX_DISTANCE)] as const,
  ]
  for (const [name, matcher] of matchers) {
    const others = [...variants(name)].filter((other) => other !== name)
    const found = new Set(scan(matcher, toBlock(others)))
    assert.deepEqual(
      others.filter((other) => !found.has(other)),
      [],
    )
  }
})

test('a scan continues where it paused and skips names that are not live', () => {
  const names = Array.from({ length: 2_000 }, (_, i) => `mibanco${i}`)
  const block = { ...toBlock(names), isLive: (at: number) => at % 2 === 0 }
  const matcher = new Matcher('mibanco', vocabulary)
  const found: string[] = []
  let pauses = 0
  for (let at: number | undefined = 0; at !== undefined; pauses++) {
    at = matcher.scan(
      block,
      at,
      (_, i) => found.push(names[i] ?? ''),
      () => true,
    )
  }
  assert.ok(pauses > 1)
  assert.deepEqual(
    found,
    names.filter((_, at) => at % 2 === 0),
  )
})

test('a scan can pause after every name that takes long to compare', () => {
  const names = Array.from({ length: 10 }, (_, i) => 'a'.repeat(54 + i))
  const block = toBlock(names)
  const matcher = new Matcher(`${'a'.repeat(50)}b`, vocabulary)
  const pauses: number[] = []
  for (let at: number | undefined = 0; at !== undefined;) {
    at = matcher.scan(
      block,
      at,
      () => {},
      () => true,
    )
    if (at !== undefined) pauses.push(at)
  }
  assert.deepEqual(
    pauses,
    names.map((_, i) => i + 1),
  )
})

test('the best matches do not depend on the order of additions', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `n${i}`)
  const getBest = (order: readonly string[]) => {
    const best = new BestMatches(7)
    const block = toBlock(order)
    for (const [i, name] of order.entries()) best.add(block, i, Number(name.slice(1)) % 3)
    return best.result().map(({ name }) => name)
  }
  const wanted = getBest(names)
  assert.deepEqual(
    wanted,
    names
      .filter((_, i) => i % 3 === 0)
      .toSorted()
      .slice(0, 7),
  )
  assert.deepEqual(getBest(names.toReversed()), wanted)
})

function getCost(matcher: Matcher, other: string): number {
  const octets = toOctets(other)
  return matcher.cost(octets, 0, octets.length)
}

function scan(matcher: Matcher, block: NameBlock): string[] {
  const found: string[] = []
  matcher.scan(
    block,
    0,
    ({ names, starts }, i) =>
      found.push(Buffer.from(names.subarray(starts[i], starts[i + 1])).toString('latin1')),
    () => false,
  )
  return found
}

function toBlock(names: readonly string[]): NameBlock {
  const starts = new Uint32Array(names.length + 1)
  for (const [i, name] of names.entries()) starts[i + 1] = (starts[i] ?? 0) + name.length
  const octets = toOctets(names.join(''))
  return { names: octets, starts, count: names.length, namesWith: (letter) => toPlane(names, letter) }
}

function toPlane(names: readonly string[], letter: number): Uint32Array {
  const plane = new Uint32Array(Math.ceil(names.length / 32))
  for (const [i, name] of names.entries())
    if (toOctets(name).includes(letter)) plane[i >>> 5] = (plane[i >>> 5] ?? 0) | (1 << (i & 31))
  return plane
}
