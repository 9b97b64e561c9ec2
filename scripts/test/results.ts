/** The results of a tier, printed at its end and kept in a file for `.ci/run`, which adds the tiers up. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Ended, Results } from './run.ts'
import { RUN_BY_CEPH, TIERS, type Tier } from './tiers.ts'

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/tests/', import.meta.url))
const SLOWEST = 10
const SKIPPED_SHOWN = 20

interface Kept {
  readonly ended: readonly Ended[]
  readonly flaky: readonly string[]
}

const count = ({ ended }: Pick<Kept, 'ended'>, outcome: Ended['outcome']): number =>
  ended.filter((each) => each.outcome === outcome && !(each.isSuite && outcome === 'passed')).length

export function keepResults(tier: Tier, results: Kept): void {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(`${FOLDER}${tier}.json`, JSON.stringify({ ended: results.ended, flaky: results.flaky }))
}

export function forgetResults(): void {
  rmSync(FOLDER, { recursive: true, force: true })
}

/** Prints the slowest files, skipped, failed and flaky tests, and the counts. */
export function printResults(name: string, results: Results, ms: number): void {
  const { ended, files } = results
  const slowest = [...files].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST)
  console.log(`\nSlowest files of ${name}:`)
  for (const [file, took] of slowest) console.log(`  ${(took / 1_000).toFixed(1).padStart(6)} s  ${file}`)
  printSome('Skipped', ended.filter(({ outcome }) => outcome === 'skipped').map(toTitle))
  printEnd(`${name}, in ${Math.round(ms / 1_000)} s`, results)
}

/** Prints the failed and the flaky tests of several passes, and the sums. */
export function printTotal(passes: readonly Results[]): void {
  const ended = passes.flatMap((pass) => pass.ended)
  const flaky = passes.flatMap((pass) => pass.flaky)
  console.log('\n== all passes')
  printEnd('all', { ended, flaky })
}

function printEnd(name: string, { ended, flaky }: Kept): void {
  printSome('Failed', ended.filter(({ outcome }) => outcome === 'failed').map(toTitle))
  printSome('FLAKY: failed at first, passed when run again. Find out why', flaky)
  const counts = (['passed', 'failed', 'skipped'] as const).map((each) => `${count({ ended }, each)} ${each}`)
  console.log(`\n${name}: ${counts.join(', ')}`)
}

function printSome(title: string, lines: readonly string[]): void {
  if (lines.length === 0) return
  console.log(`\n${title}:`)
  for (const line of lines.slice(0, SKIPPED_SHOWN)) console.log(`  ${line}`)
  if (lines.length > SKIPPED_SHOWN) console.log(`  and ${lines.length - SKIPPED_SHOWN} more`)
}

export const toTitle = ({ file, name }: Ended) => `${file}: ${name}`

interface Total {
  readonly passed: number
  readonly failed: number
  /** A test and the reason, one each. */
  readonly failures: readonly string[]
  readonly flaky: readonly string[]
  readonly skippedEverywhere: readonly string[]
}

/** The sum of the tiers that ran since results were last forgotten. */
export function total(): Total {
  const tiers = readdirSync(FOLDER).map((name): Kept => JSON.parse(readFileSync(`${FOLDER}${name}`, 'utf8')))
  const ended = tiers.flatMap((tier) => tier.ended)
  const passed = new Set(ended.filter(({ outcome }) => outcome === 'passed').map(toTitle))
  const skipped = ended.filter(({ outcome, file }) => outcome === 'skipped' && !RUN_BY_CEPH.includes(file))
  return {
    passed: count({ ended }, 'passed'),
    failed: count({ ended }, 'failed'),
    failures: ended
      .filter(({ outcome }) => outcome === 'failed')
      .map((each) => `${toTitle(each)}\n${each.reason ?? ''}`),
    flaky: tiers.flatMap((tier) => tier.flaky),
    skippedEverywhere: [...new Set(skipped.map(toTitle).filter((title) => !passed.has(title)))],
  }
}

export const missingTiers = (): string[] => {
  const kept = readdirSync(FOLDER)
  return TIERS.filter((tier) => !kept.includes(`${tier}.json`))
}
