import type { TestContext } from 'node:test'
import { createResolver, type Resolver, type ResolverOptions } from '../../src/lib/dns/index.ts'
import { ns, RCODE, startScriptedDns, type Handler, type ScriptedDns } from './scripted.ts'

interface Bench {
  readonly resolver: Resolver
  readonly servers: readonly ScriptedDns[]
}

/**
 * A resolver with one scripted server for each handler; all of it ends with the test. A machine that pauses for a moment causes no
 * retry: tests of retries and deadlines set their own.
 */
export async function setUp(
  t: TestContext,
  handlers: readonly Handler[],
  options: Partial<ResolverOptions> = {},
): Promise<Bench> {
  const servers = await Promise.all(handlers.map((handler) => startScriptedDns(handler)))
  const resolver = createResolver({
    servers: servers.map(({ port }) => ({ address: '127.0.0.1', family: 4, port })),
    cache: new Map(),
    deadlineMs: 60_000,
    retryMs: 60_000,
    ...options,
  })
  t.after(async () => {
    resolver.close()
    await Promise.all(servers.map((server) => server.stop()))
  })
  return { resolver, servers }
}

export const silence: Handler = () => 'silence'
export const refuse: Handler = () => ({ rcode: RCODE.REFUSED })
export const answerServfail: Handler = () => ({ rcode: RCODE.SERVFAIL })
export const find: Handler = ({ name }) => ({ answers: [ns(name, 'ns1.hosting.cl')] })
export const found = { kind: 'found', servers: ['ns1.hosting.cl'] }

export async function elapsed(work: Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work
  return performance.now() - start
}
