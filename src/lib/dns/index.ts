export type { NameServerAnswer } from './outcomes.ts'
export { createResolver } from './resolver.ts'
export type { Resolver, ResolverOptions } from './resolver.ts'
export { parseServers, systemServers, type ServerAddress } from './servers.ts'
