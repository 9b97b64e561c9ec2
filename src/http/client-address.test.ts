import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAddress, clientGroup, trustOf } from './client-address.ts'

const addressOf = clientAddress(trustOf(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']))

for (const [remote, forwarded, expected] of [
  ['203.0.113.9', undefined, '203.0.113.9'],
  // Nobody else is believed.
  ['203.0.113.9', '1.2.3.4', '203.0.113.9'],
  ['192.0.2.2', '1.2.3.4', '192.0.2.2'],
  ['10.1.2.3', '1.2.3.4', '1.2.3.4'],
  ['::ffff:10.1.2.3', '1.2.3.4', '1.2.3.4'],
  ['2001:db8::5', '1.2.3.4', '1.2.3.4'],
  // What the client wrote itself stands before what the proxies added.
  ['10.1.2.3', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
  ['10.1.2.3', '6.6.6.6,1.2.3.4 , 192.0.2.1', '1.2.3.4'],
  ['10.1.2.3', '10.9.9.9', '10.9.9.9'],
  ['10.1.2.3', 'nonsense', 'nonsense'],
] as const) {
  test(`${remote}, forwarded for ${forwarded}: ${expected}`, () => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    assert.equal(addressOf({ socket: { remoteAddress: remote }, headers }), expected)
  })
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
  test(`${address} is the client ${group}`, () => assert.equal(clientGroup(address), group))
}
