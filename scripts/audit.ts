/**
 * Checks licenses, install scripts and integrity hashes of all production dependencies, those for other platforms included,
 * against scripts/audit/policy.json. Works offline. `npm audit` is another thing: it asks the registry for known vulnerabilities.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { findBreaches, type AuditPolicy } from './audit/policy.ts'
import { readProductionTree } from './audit/production-tree.ts'

const { values } = parseArgs({ options: { root: { type: 'string', default: '.' } } })
const policy: AuditPolicy = JSON.parse(readFileSync(new URL('audit/policy.json', import.meta.url), 'utf8'))
const packages = readProductionTree(values.root)
const breaches = findBreaches(packages, policy)
for (const breach of breaches) console.error(breach)
console.log(
  breaches.length === 0
    ? `${packages.length} production packages keep to scripts/audit/policy.json`
    : `${breaches.length} breaches of scripts/audit/policy.json`,
)
process.exitCode = breaches.length === 0 ? 0 : 1
