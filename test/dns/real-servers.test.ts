import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { createResolver, parseServers } from '../../src/lib/dns/index.ts'
import type {
  NameServerAnswer,
  RecordAnswer,
  RecordType,
  Resolver,
  ResolverOptions,
} from '../../src/lib/dns/index.ts'
import { MANY_NAME_SERVERS, NAME_SERVERS, OWN_SERVERS } from './fixtures/zones.ts'
import { startDnsServers } from './servers.ts'

const servers = await startDnsServers()

function resolverAt(address: string, options: Pick<ResolverOptions, 'role'> = {}): Resolver {
  const servers = parseServers(address)
  assert.ok(servers !== undefined)
  return createResolver({ servers, cache: new Map(), ...options })
}

suite('against nsd and unbound', { skip: 'skipped' in servers ? servers.skipped : false }, () => {
  if ('skipped' in servers) return
  let recursive: Resolver
  let registry: Resolver
  let parent: Resolver
  before(() => {
    recursive = resolverAt(servers.resolver)
    registry = resolverAt(servers.authoritative)
    parent = resolverAt(servers.authoritative, { role: 'parent' })
  })
  after(async () => {
    for (const resolver of [recursive, registry, parent]) resolver.close()
    await servers.stop()
  })

  const own = { kind: 'found', servers: OWN_SERVERS } as const
  const found = { kind: 'found', servers: NAME_SERVERS } as const
  const cases: readonly [string, string, NameServerAnswer, NameServerAnswer][] = [
    // what, name, by way of the recursive server, from the registry's server itself
    ['a registered name', 'registrado.cl', found, found],
    ['an IDN name', 'xn--and-6ma2c.cl', found, found],
    ['a free name', 'libre.cl', { kind: 'no-such-name' }, { kind: 'no-such-name' }],
    ['a name without name servers', 'sin-servidores.cl', { kind: 'empty' }, { kind: 'empty' }],
    ['a host below a registered name', 'www.registrado.cl', { kind: 'empty' }, { kind: 'failed' }],
    ['an alias below a registered name', 'alias.registrado.cl', { kind: 'empty' }, { kind: 'failed' }],
    ['a lame delegation', 'cojo.cl', { kind: 'failed' }, found],
    ['a zone that does not load', 'servfail.example', { kind: 'failed' }, { kind: 'failed' }],
    ['a name that the registry serves itself', 'propio.cl', own, own],
    ['a zone of somebody else', 'ejemplo.pe', { kind: 'failed' }, { kind: 'refused' }],
  ]
  for (const [what, name, fromRecursive, fromRegistry] of cases) {
    test(`${what}: ${fromRecursive.kind} / ${fromRegistry.kind}`, async () => {
      assert.deepEqual(await recursive.nameServers(name), fromRecursive, 'recursive')
      assert.deepEqual(await registry.nameServers(name), fromRegistry, 'registry')
      assert.deepEqual(await parent.nameServers(name), fromRegistry, 'registry, as the parent')
    })
  }

  const LONG_TEXT = [...'xyzwv'].map((letter) => letter.repeat(255)).join('')
  const records: readonly [RecordType, string, RecordAnswer][] = [
    ['a', 'registrado.cl', { kind: 'records', records: ['192.0.2.10'] }],
    ['aaaa', 'registrado.cl', { kind: 'records', records: ['2001:db8::10'] }],
    [
      'mx',
      'registrado.cl',
      {
        kind: 'records',
        records: [
          { preference: 10, exchange: 'correo1.registrado.cl' },
          { preference: 20, exchange: 'correo2.registrado.cl' },
        ],
      },
    ],
    // The response is truncated over UDP.
    ['txt', 'registrado.cl', { kind: 'records', records: ['v=spf1 -all', LONG_TEXT] }],
    [
      'caa',
      'registrado.cl',
      { kind: 'records', records: [{ flags: 0, tag: 'issue', value: 'ca.ejemplo.cl' }] },
    ],
    [
      'soa',
      'registrado.cl',
      {
        kind: 'records',
        records: [
          {
            mname: 'ns1.hosting.cl',
            rname: 'h.hosting.cl',
            serial: 1,
            refresh: 3_600,
            retry: 600,
            expire: 86_400,
            minimum: 60,
          },
        ],
      },
    ],
    ['a', 'alias.registrado.cl', { kind: 'records', records: ['192.0.2.10'] }],
    ['mx', 'www.registrado.cl', { kind: 'empty' }],
    ['mx', 'libre.cl', { kind: 'no-such-name' }],
    ['mx', 'cojo.cl', { kind: 'failed' }],
  ]
  for (const [type, name, answer] of records) {
    test(`${type} of ${name}: ${answer.kind}`, async () => {
      assert.deepEqual(await recursive.records(name, type), answer)
      // From the cache.
      assert.deepEqual(await recursive.records(name, type), answer)
    })
  }

  test('a server of the parent zone knows no other records', async () => {
    assert.deepEqual(await parent.records('registrado.cl', 'mx'), { kind: 'failed' })
  })

  test('a response too large for UDP is complete over TCP', async () => {
    const whole = { kind: 'found', servers: MANY_NAME_SERVERS }
    assert.deepEqual(await registry.nameServers('grande.cl'), whole)
    assert.deepEqual(await parent.nameServers('grande.cl'), whole)
    assert.deepEqual(await recursive.nameServers('grande.cl'), whole)
  })

  test('a name whose servers are silent times out within three seconds', async () => {
    const start = performance.now()
    assert.deepEqual(await recursive.nameServers('mudo.cl'), { kind: 'timeout' })
    const took = performance.now() - start
    assert.ok(took < 30_000, `${took} ms`)
  })
})
