import type { FastifyInstance } from 'fastify'
import type { EndpointShared } from '../http/endpoint.ts'
import { accountsRoute } from './routes/accounts.ts'
import { keysRoutes, type KeyOffice } from './routes/keys.ts'
import { settleRoute, type TermsOffice } from './routes/settle.ts'
import { systemRoute, type SystemOptions } from './routes/system.ts'

export interface AdminOptions extends SystemOptions {
  readonly keys: KeyOffice
  readonly terms: TermsOffice
}

/** What the owner of the service sees and does, with a key of the service `admin`. */
export function adminRoutes(app: FastifyInstance, shared: EndpointShared, options: AdminOptions): void {
  accountsRoute(app, shared, options)
  settleRoute(app, shared, options)
  keysRoutes(app, shared, options)
  systemRoute(app, shared, options)
}
