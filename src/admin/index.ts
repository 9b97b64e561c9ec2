import type { HttpServer } from '../http/server.ts'
import type { EndpointShared } from '../http/endpoint.ts'
import {
  auditRoute,
  doctorRoute,
  type DoctorOptions,
  systemRoute,
  type SystemOptions,
} from './routes/system.ts'
import { accountsRoute, limitsRoutes, releaseRoute, type AccountsOptions } from './routes/accounts.ts'
import { keysRoutes } from './routes/keys.ts'

export type AdminOptions = AccountsOptions &
  DoctorOptions &
  SystemOptions & { readonly baseUrl: () => string }

/** The endpoints for the owner of the service, with a key of the service `admin`. */
export function adminRoutes(app: HttpServer, shared: EndpointShared, options: AdminOptions): void {
  accountsRoute(app, shared, options)
  limitsRoutes(app, shared, options)
  releaseRoute(app, shared, options)
  keysRoutes(app, shared, options)
  auditRoute(app, shared, options.baseUrl)
  doctorRoute(app, shared, options)
  systemRoute(app, shared, options)
}
