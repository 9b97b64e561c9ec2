import type { Service } from '../../src/http/auth/key-limits.ts'
import { openapiText } from './openapi.ts'

const SERVICES: readonly Service[] = ['domainwatch', 'imagestore', 'admin']
const METHODS = ['GET', 'POST', 'DELETE'] as const

/** Every endpoint that takes a key, as the OpenAPI document lists them. */
export const ENDPOINTS = Object.entries<object>(JSON.parse(openapiText).paths).flatMap(([path, operations]) =>
  SERVICES.filter((service) => path.startsWith(`/api/v1/${service}/`)).flatMap((service) =>
    METHODS.filter((method) => method.toLowerCase() in operations).map((method) => ({
      method,
      path,
      service,
    })),
  ),
)
