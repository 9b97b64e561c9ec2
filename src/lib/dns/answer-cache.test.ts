import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getLifetime } from './answer-cache.ts'

const LIMITS = { maxTtl: 1_000, maxNegativeTtl: 100, failureTtl: 2 }

test('TTLs are respected and capped by kind', () => {
  const found = { kind: 'found', servers: ['ns1.cl'] } as const
  assert.equal(getLifetime(found, 30, LIMITS), 30)
  assert.equal(getLifetime(found, 0x7fffffff, LIMITS), 1_000)
  assert.equal(getLifetime(found, 0, LIMITS), 0)
  assert.equal(getLifetime({ kind: 'empty' }, 30, LIMITS), 30)
  assert.equal(getLifetime({ kind: 'no-such-name' }, 86_400, LIMITS), 100)
  assert.equal(getLifetime({ kind: 'no-such-name' }, 0, LIMITS), 0)
  for (const kind of ['refused', 'failed', 'timeout'] as const)
    assert.equal(getLifetime({ kind }, undefined, LIMITS), 2)
  assert.equal(getLifetime({ kind: 'overloaded' }, undefined, LIMITS), 0)
})
