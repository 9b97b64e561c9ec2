/**
 * Runs the tests of one tier, or of all (`--tier all`). Words select files whose paths contain one of them. Tiers are
 * defined in `test/tiers.ts`; CONTRIBUTING says what each is for.
 */
import { parseArgs } from 'node:util'
import { chromiumPath } from '../test/servers/packages.ts'
import { startCeph } from '../test/support/ceph.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { forgetResults, keepResults, printResults, printTotal, toTitle } from './test/results.ts'
import { runPass, type Ended, type Results, type RunOptions } from './test/run.ts'
import { selectionHints, toSelector } from './test/selection.ts'
import { getPasses, TIERS, type Pass, type Tier } from './test/tiers.ts'

/** Tiers that break servers, disks and nodes: on a shared machine, their failed files run once more. */
const MAY_RUN_AGAIN: readonly Tier[] = ['faults', 'cluster']
/** With more failed files than this, the machine is not to blame. */
const MAX_FILES_AGAIN = 8

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    tier: { type: 'string', default: 'default' },
    name: { type: 'string' },
    watch: { type: 'boolean', default: false },
  },
})
const tiers = TIERS.filter((tier) => values.tier === tier || values.tier === 'all')
if (tiers.length === 0) throw new Error(`--tier is one of ${TIERS.join(', ')}, all`)
const isWhole = words.length === 0 && values.name === undefined && !values.watch
const isWanted = toSelector(words)
const passes = tiers.map((tier) => ({ tier, passes: getPasses(tier, isWanted) }))

const hints = selectionHints(words, tiers)
for (const hint of hints) console.error(hint)
if (passes.every((each) => each.passes.length === 0)) process.exit(1)

if (passes.some((each) => each.tier === 'browser' && each.passes.length > 0)) {
  await import('./build-console.ts')
  // Unpacked here, because several files would do it at the same time.
  process.env['TEST_CHROMIUM'] = await chromiumPath()
}
const wanted = passes.flatMap((each) => each.passes)
const postgres = wanted.some((pass) => pass.needsPostgres)
  ? await startPostgres(process.env['TEST_POSTGRES_BIN'])
  : undefined
const store = wanted.some((pass) => pass.onTwoNodes) ? await startCeph() : undefined
// Stopping the tests stops their servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stop().then(() => process.exit(1)))
}
if (isWhole && values.tier === 'all') forgetResults()
const done: Results[] = []
try {
  for (const each of passes) await runTier(each.tier, each.passes)
} finally {
  await stop()
}
if (done.length > 1) printTotal(done)
if (hints.length > 0) console.error(`\n${hints.join('\n')}`)

async function runTier(tier: Tier, ofTier: readonly Pass[]): Promise<void> {
  const options: RunOptions = {
    postgresUrl: postgres?.url,
    objectStore: store?.environment,
    name: values.name,
    watch: values.watch,
  }
  const all: Results[] = []
  for (const pass of ofTier) {
    console.log(`\n== ${pass.name}`)
    const start = Date.now()
    const first = await runPass(pass, options)
    const results = MAY_RUN_AGAIN.includes(tier) ? await runAgain(pass, first, options) : first
    printResults(pass.name, results, Date.now() - start)
    all.push(results)
    done.push(results)
  }
  const ended = all.flatMap((results) => results.ended)
  if (isWhole) keepResults(tier, { ended, flaky: all.flatMap(({ flaky }) => flaky) })
  if (ended.some(({ outcome }) => outcome === 'failed')) process.exitCode = 1
}

/** Runs the files with failures once more, one at a time. What passes then counts as passed and is named as flaky. */
async function runAgain(pass: Pass, first: Results, options: RunOptions): Promise<Results> {
  const files = pass.files.filter((file) => first.failedFiles.includes(file))
  if (files.length === 0 || files.length > MAX_FILES_AGAIN) return first
  console.log(`\n== ${pass.name}, once more: ${files.join(' ')}`)
  const second = await runPass({ ...pass, files, concurrency: 1 }, options)
  const titles = new Map(second.ended.map((each) => [toTitle(each), each.outcome]))
  const passedThen = first.ended.filter(
    (each) => each.outcome === 'failed' && titles.get(toTitle(each)) !== 'failed',
  )
  // A file that did not load, or a failed hook, has no test of that name when it works.
  const isReplaced = (each: Ended) => titles.has(toTitle(each)) || passedThen.includes(each)
  return {
    ...second,
    ended: [...first.ended.filter((each) => !isReplaced(each)), ...second.ended],
    files: first.files,
    flaky: [...first.flaky, ...second.flaky, ...passedThen.map(toTitle)],
  }
}

async function stop(): Promise<void> {
  await postgres?.stop()
  await store?.[Symbol.asyncDispose]()
}
