import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBreaches } from '../../scripts/audit/policy.ts'

const POLICY = { licenses: ['MIT', 'ISC'], licenseExceptions: [], installScripts: [] }
const GOOD = { version: '1.0.0', license: 'MIT', hasInstallScript: false }

function getBreaches(locked: Partial<typeof GOOD>, installed?: Partial<typeof GOOD>, hasIntegrity = true) {
  const facts = (changed: Partial<typeof GOOD>) => ({ ...GOOD, ...changed })
  const copy = installed && facts(installed)
  const one = { name: 'a', path: 'a', locked: facts(locked), hasIntegrity, installed: copy }
  return findBreaches([one], POLICY)
}

test('a production package has an allowed license, no install script and a hash, also as it is installed', () => {
  for (const license of ['MIT', '(MIT OR GPL-3.0-only)', 'GPL-3.0-only OR MIT AND ISC', '(MIT AND (ISC))'])
    assert.deepEqual(getBreaches({ license }, { license }), [], license)
  for (const license of ['GPL-3.0-only', 'MIT AND GPL-3.0-only', '(MIT OR ISC) AND GPL-3.0-only', '(MIT', ''])
    for (const found of [getBreaches({ license }), getBreaches({}, { license })])
      assert.deepEqual(found, [`a (1.0.0) has the license ${license}, which is not allowed`])
  const script = ['a (1.0.0) runs a script when it is installed']
  assert.deepEqual(getBreaches({ hasInstallScript: true }), script)
  assert.deepEqual(getBreaches({}, { hasInstallScript: true }), script)
  assert.deepEqual(getBreaches({}, undefined, false), [
    'a (1.0.0) has no integrity hash in package-lock.json',
  ])
  assert.deepEqual(getBreaches({}, { version: '2.0.0' }), ['a (1.0.0) is installed as 2.0.0: run npm ci'])
})
