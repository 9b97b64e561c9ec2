import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { commandOf, selectionHints, toSelector } from '../../scripts/test/selection.ts'
import { getPasses, testFiles, TIERS, getTiers } from '../../scripts/test/tiers.ts'

test('every test file belongs to exactly one tier, which runs it', () => {
  const files = testFiles()
  assert.ok(files.length > 200)
  const tiers = getTiers(files)
  for (const tier of TIERS) {
    const own = files.filter((file) => tiers.get(file) === tier)
    const run = new Set(getPasses(tier, () => true).flatMap((pass) => pass.files))
    assert.deepEqual(
      own.filter((file) => !run.has(file)),
      [],
    )
  }
})

test('every tier has its command, and CI runs it', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const ci = readFileSync('.ci/run', 'utf8')
  for (const tier of TIERS.filter((each) => each !== 'default')) {
    assert.equal(commandOf(tier), `npm run test:${tier}`)
    assert.equal(scripts[`test:${tier}`], `node scripts/test.ts --tier ${tier}`)
    assert.match(ci, new RegExp(`^for tier in .*\\b${tier}\\b`, 'm'))
  }
})

test('CI runs what reads the corpus, or tries properties of a service, with all of it', () => {
  const words =
    /^step "the whole corpus.*" npm test -- (.*)$/m.exec(readFileSync('.ci/run', 'utf8'))?.[1] ?? ''
  const passes = TIERS.flatMap((tier) =>
    getPasses(tier, tier === 'default' ? toSelector(words.split(' ')) : () => true),
  )
  const run = new Set(passes.flatMap(({ files }) => files))
  const reading = testFiles().filter((file) =>
    /support\/(corpus|effort)\.ts'/.test(readFileSync(file, 'utf8')),
  )
  assert.ok(reading.length > 10)
  assert.deepEqual(
    reading.filter((file) => !run.has(file)),
    [],
  )
})

test('words that match nothing, and files of another tier, are named with the command that runs them', () => {
  assert.deepEqual(selectionHints(['tooling/tiers'], ['default']), [])
  assert.deepEqual(selectionHints(['tooling/tiers', 'nada'], ['default']), [
    'No test file has nada in its path.',
  ])
  assert.deepEqual(selectionHints(['./test/console/words', 'tooling/tiers'], ['default']), [
    'Not run: test/console/words.test.ts. Use npm run test:browser -- ./test/console/words tooling/tiers',
  ])
  assert.deepEqual(selectionHints(['tooling/tiers'], ['cluster']), [
    'Not run: test/tooling/tiers.test.ts. Use npm test -- tooling/tiers',
  ])
  assert.match(
    selectionHints(['test/console/'], ['default']).join(),
    / and \d\d more\. Use npm run test:browser/,
  )
  assert.deepEqual(selectionHints(['domainwatch/add'], ['default', 'postgres']), [])
})
