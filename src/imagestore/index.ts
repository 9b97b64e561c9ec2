import type { EndpointShared } from '../http/endpoint.ts'
import type { HttpServer } from '../http/server.ts'
import { createEager } from './eager.ts'
import { linkResolver } from './links/resolve-link.ts'
import type { Imagestore, ImagestoreContext } from './open.ts'
import { hooksRoutes } from './routes/hooks.ts'
import { deleteRoute, getRoute, trashRoute, updateRoute } from './routes/image.ts'
import { linkRoute } from './routes/link.ts'
import { aliasRoutes, definitionRoutes } from './routes/link-names.ts'
import { imageListRoute, statsRoute } from './routes/list.ts'
import { bansRoutes, similarRoute } from './routes/similar.ts'
import { ticketUploadRoute, ticketsRoute } from './routes/tickets.ts'
import { uploadRoute } from './routes/upload.ts'

export { openImagestore, type Imagestore } from './open.ts'
export { maxBodyBytes } from './routes/upload.ts'
export { hookWebhooks } from './routes/hooks.ts'
export { createAccountPolicies } from './account-policy.ts'

/** In the order of the document. */
const ROUTES = [
  uploadRoute,
  ticketsRoute,
  ticketUploadRoute,
  getRoute,
  updateRoute,
  deleteRoute,
  trashRoute,
  aliasRoutes,
  bansRoutes,
  hooksRoutes,
  definitionRoutes,
  imageListRoute,
  similarRoute,
  statsRoute,
  linkRoute,
]

export function imagestoreRoutes(
  app: HttpServer,
  shared: EndpointShared,
  images: Imagestore,
  context: ImagestoreContext,
  baseUrl: () => string,
): void {
  const { clock, config, database, log, tasks } = context
  const resolve = linkResolver(images.definitions, images.delivery, clock)
  const eager = createEager({
    ...images,
    resolve,
    failed: (error) => log.warn({ err: error }, 'derivatives of an upload could not be made'),
  })
  const routes = { ...shared, ...images, clock, config, database, tasks, resolve, eager, baseUrl }
  for (const register of ROUTES) register(app, routes)
}
