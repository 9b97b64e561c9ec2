import type { Service } from '../../src/http/authentication.ts'

/** Every endpoint that takes a key. */
export const ENDPOINTS: readonly { method: 'GET' | 'POST' | 'DELETE'; path: string; service: Service }[] = [
  { method: 'POST', path: '/api/v1/domainwatch/add', service: 'domainwatch' },
  { method: 'GET', path: '/api/v1/domainwatch/list', service: 'domainwatch' },
  { method: 'GET', path: '/api/v1/domainwatch/export', service: 'domainwatch' },
  { method: 'GET', path: '/api/v1/domainwatch/events', service: 'domainwatch' },
  { method: 'GET', path: '/api/v1/domainwatch/similar', service: 'domainwatch' },
  { method: 'GET', path: '/api/v1/domainwatch/stats', service: 'domainwatch' },
  { method: 'POST', path: '/api/v1/domainwatch/watches', service: 'domainwatch' },
  { method: 'GET', path: '/api/v1/domainwatch/watches', service: 'domainwatch' },
  { method: 'DELETE', path: '/api/v1/domainwatch/watches', service: 'domainwatch' },
  { method: 'POST', path: '/api/v1/domainwatch/watches/test', service: 'domainwatch' },
  { method: 'POST', path: '/api/v1/domainwatch/update', service: 'domainwatch' },
  { method: 'GET', path: '/api/v1/domainwatch/dns', service: 'domainwatch' },
  { method: 'POST', path: '/api/v1/domainwatch/dns', service: 'domainwatch' },
  { method: 'POST', path: '/api/v1/imagestore/upload', service: 'imagestore' },
  { method: 'GET', path: '/api/v1/imagestore/get', service: 'imagestore' },
  { method: 'POST', path: '/api/v1/imagestore/delete', service: 'imagestore' },
  { method: 'DELETE', path: '/api/v1/imagestore/delete', service: 'imagestore' },
  { method: 'GET', path: '/api/v1/imagestore/list', service: 'imagestore' },
  { method: 'GET', path: '/api/v1/admin/accounts', service: 'admin' },
  { method: 'GET', path: '/api/v1/admin/keys', service: 'admin' },
  { method: 'POST', path: '/api/v1/admin/create', service: 'admin' },
  { method: 'POST', path: '/api/v1/admin/revoke', service: 'admin' },
  { method: 'GET', path: '/api/v1/admin/system', service: 'admin' },
]
