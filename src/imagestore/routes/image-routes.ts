import type { EndpointShared } from '../../http/endpoint.ts'
import type { EagerDerivatives } from '../eager.ts'
import type { ResolveLink } from '../links/resolve-link.ts'
import type { Imagestore, ImagestoreContext } from '../open.ts'

/** What the endpoints of image hosting share. */
export interface ImageRoutes
  extends EndpointShared, Imagestore, Pick<ImagestoreContext, 'config' | 'database' | 'clock' | 'tasks'> {
  readonly eager: EagerDerivatives
  readonly resolve: ResolveLink
  readonly baseUrl: () => string
}
