/** Adds up the results of all tiers for `.ci/run`: flaky and skipped tests, then `passed failed` as the last line. */
import { missingTiers, total } from './results.ts'

const { passed, failed, flaky, skippedEverywhere } = total()
const missing = missingTiers()
for (const line of flaky) console.log(`FLAKY: ${line}`)
for (const line of skippedEverywhere) console.log(`SKIPPED in every tier: ${line}`)
for (const tier of missing) console.log(`NO RESULTS of the tier ${tier}`)
console.log(`${passed} ${failed + skippedEverywhere.length + missing.length}`)
