import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressClient, networkMatcher } from './client.ts'

const isTrusted = networkMatcher(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32'])

for (const [address, expected] of [
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['192.0.2.1', true],
  ['192.0.2.2', false],
  ['2001:db8::5', true],
  ['nonsense', false],
] as const) {
  test(`${address} is ${expected ? 'trusted' : 'not trusted'}`, () =>
    assert.equal(isTrusted(address), expected))
}

for (const [address, group] of [
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:DB8:0:0:ffff::2', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['nonsense', 'nonsense'],
  ['non:sense', 'non:sense'],
] as const) {
  test(`${address} is the client ${group}`, () => assert.equal(addressClient(address), `address ${group}`))
}
