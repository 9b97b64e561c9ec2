import type { HttpServer } from '../http/server.ts'
import type { EndpointShared } from '../http/endpoint.ts'
import { accountsRoute } from './routes/accounts.ts'
import { keysRoutes, type ApiKeys } from './routes/keys.ts'
import { limitsRoutes, type AccountPolicies } from './routes/limits.ts'
import { systemRoute, type SystemOptions } from './routes/system.ts'

export interface AdminOptions extends SystemOptions {
  readonly keys: ApiKeys
  readonly policies: AccountPolicies
}

/** The endpoints for the owner of the service, with a key of the service `admin`. */
export function adminRoutes(app: HttpServer, shared: EndpointShared, options: AdminOptions): void {
  accountsRoute(app, shared, options)
  limitsRoutes(app, shared, options)
  keysRoutes(app, shared, options)
  systemRoute(app, shared, options)
}
