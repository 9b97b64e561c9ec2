import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatServer, parseServers, systemServers } from './servers.ts'

const read = (text: string) => parseServers(text)?.map(formatServer)

test('parses addresses with and without port', () => {
  assert.deepEqual(read('192.0.2.1:5353, 192.0.2.2 ,[::1]:5353,[2001:db8::1],2001:DB8:0::2'), [
    '192.0.2.1:5353',
    '192.0.2.2:53',
    '[::1]:5353',
    '[2001:db8::1]:53',
    '[2001:db8::2]:53',
  ])
  assert.deepEqual(read('fe80::1%lo'), ['[fe80::1%lo]:53'])
})

test('repeated servers count once', () => {
  assert.deepEqual(read('192.0.2.1,192.0.2.1:53,::1,[0:0:0:0:0:0:0:1]:53'), ['192.0.2.1:53', '[::1]:53'])
})

test('an invalid part makes the text invalid', () => {
  const wrong = [
    '',
    'dns.example',
    '192.0.2.300',
    '192.0.2.1:0',
    '192.0.2.1:65536',
    '192.0.2.1:',
    '192.0.2.1:dns',
  ]
  for (const part of [...wrong, '[192.0.2.1]:53', '[::1', '::1]:53', '[::1]53', ':53', '192.0.2.1 53']) {
    assert.equal(read(`192.0.2.9,${part}`), undefined, part)
  }
  const nine = Array.from({ length: 9 }, (_, i) => `192.0.2.${i}`).join(',')
  assert.equal(read(nine), undefined)
})

test('systemServers returns at least one server', () => {
  const servers = systemServers()
  assert.ok(servers.length > 0)
  for (const server of servers) assert.deepEqual(read(formatServer(server)), [formatServer(server)])
})
