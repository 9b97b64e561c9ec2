/**
 * Adds up the results of all tiers for `.ci/run`: failed tests with their reasons, flaky and skipped tests, then
 * `passed failed` as the last line.
 */
import { missingTiers, total } from './results.ts'

/** The log has them all. */
const MAX_SHOWN = 10

const { passed, failed, failures, flaky, skippedEverywhere } = total()
const missing = missingTiers()
for (const line of failures.slice(0, MAX_SHOWN)) console.log(`FAILED: ${line}\n`)
for (const line of flaky) console.log(`FLAKY: ${line}`)
for (const line of skippedEverywhere) console.log(`SKIPPED in every tier: ${line}`)
for (const tier of missing) console.log(`NO RESULTS of the tier ${tier}`)
console.log(`${passed} ${failed + skippedEverywhere.length + missing.length}`)
