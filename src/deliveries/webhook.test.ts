import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { listen } from '../../test/support/listen.ts'
import { systemClock } from '../lib/clock.ts'
import { newDeliveryId } from './delivery-attempt.ts'
import { allowAddresses, type Resolve, retryAfterMs } from './http-client.ts'
import { newSecret, signedHeaders, webhookTransport } from './webhook.ts'

const FORBIDDEN = [
  '127.0.0.1',
  '127.8.9.1',
  '0.0.0.0',
  '0.1.2.3',
  '10.1.2.3',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a9fe:a9fe',
  '::ffff:0:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::10.0.0.1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  '2600:1f18::5efe:10.0.0.1',
  '2600:1f18::200:5efe:10.0.0.1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '2001:db8::1',
  '4000::1',
  'no',
  '',
]

test('only public addresses are allowed by default', () => {
  const isAllowed = allowAddresses([])
  for (const address of FORBIDDEN) assert.equal(isAllowed(address), false, address)
  for (const address of ['1.1.1.1', '200.1.123.3', '::ffff:1.1.1.1', '2606:4700::1111', '2800:3f0:4003::5e'])
    assert.equal(isAllowed(address), true, address)
})

test('configured networks are allowed, in every notation, and no others', () => {
  const isAllowed = allowAddresses(['10.0.0.0/8', '192.168.1.7', 'fd00::/8', '::1'])
  for (const address of ['10.255.0.1', '::ffff:10.0.0.1', '192.168.1.7', 'fd12::1', '::1'])
    assert.equal(isAllowed(address), true, address)
  for (const address of ['11.0.0.1', '127.0.0.1', '192.168.1.8', 'fe80::1', '169.254.169.254'])
    assert.equal(isAllowed(address), address === '11.0.0.1', address)
})

test('resolved addresses are checked at every delivery', async () => {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.end()
  })
  const port = await listen(server)
  const webhook = {
    id: newDeliveryId(),
    body: '{}',
    address: `http://example.cl:${port}/`,
    secrets: [newSecret()],
  }
  const post = (networks: string[], resolve: Resolve) =>
    webhookTransport({
      isAllowedAddress: allowAddresses(networks),
      userAgent: 'x',
      clock: systemClock,
      resolve,
    }).send(webhook, new AbortController().signal)
  const refused = { kind: 'failed', code: undefined, retryAfterMs: 0 }
  const forbidden = { ...refused, error: 'La dirección del receptor no está permitida' }
  for (const found of [['127.0.0.1'], ['::ffff:127.0.0.1'], ['10.0.0.1', '::1']])
    assert.deepEqual(await post([], async () => found), forbidden)
  assert.equal(requests, 0)
  assert.deepEqual(await post(['127.0.0.0/8'], async () => ['127.0.0.1']), { kind: 'delivered', code: 200 })
  // Forbidden addresses of a name are skipped.
  assert.deepEqual(await post(['127.0.0.1'], async () => ['127.0.0.2', '127.0.0.1']), {
    kind: 'delivered',
    code: 200,
  })
  assert.equal(requests, 2)
  const nobody = await post([], async () => [])
  assert.deepEqual(nobody, { ...refused, error: 'No se pudo conectar con el receptor' })
  server.close()
})

test('signatures match the example of the specification', () => {
  // From the reference libraries of Standard Webhooks.
  const headers = signedHeaders(
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1_614_265_330,
    '{"test": 2432232314}',
  )
  assert.deepEqual(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
  assert.ok(!newDeliveryId().includes('.'))
})

test('Retry-After takes seconds or a date, at most a day', () => {
  const now = Date.UTC(2026, 10, 21, 12, 0, 0, 500)
  const day = 24 * 60 * 60 * 1000
  assert.equal(retryAfterMs('120', now), 120_000)
  assert.equal(retryAfterMs('999999999', now), day)
  assert.equal(retryAfterMs('Sat, 21 Nov 2026 12:10:00 GMT', now), 599_500)
  assert.equal(retryAfterMs('Sat, 21 Nov 2037 12:10:00 GMT', now), day)
  for (const none of [
    '',
    '0',
    '-5',
    '1.5',
    'Sat, 21 Nov 2026 11:00:00 GMT',
    'Sat, 99 Nov 2026 12:10:00 GMT',
    '2027-01-01',
  ])
    assert.equal(retryAfterMs(none, now), 0, none)
})

test('an upgrade or a hang-up fails without a timeout', async () => {
  let answer = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  })
  const port = await listen(server)
  const channel = webhookTransport({ isAllowedAddress: () => true, userAgent: 'x', clock: systemClock })
  const receiver = `http://127.0.0.1:${port}/`
  const post = () =>
    channel.send(
      { id: 'a', body: '{}', address: receiver, secrets: [newSecret()] },
      new AbortController().signal,
    )
  const refused = { kind: 'failed', code: 101, error: 'El receptor respondió 101', retryAfterMs: 0 }
  assert.deepEqual(await post(), refused)
  for (answer of ['', 'HTTP/1.1 103 Early Hints\r\n\r\n']) {
    const error = 'No se pudo conectar con el receptor (ECONNRESET)'
    assert.deepEqual(await post(), { kind: 'failed', code: undefined, error, retryAfterMs: 0 })
  }
  server.close()
})
