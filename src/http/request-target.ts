const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i

/**
 * Returns the path and the query of a request target. Clients may also send `http://host/path`, as they do to proxies (RFC 9112,
 * section 3.2.2).
 */
export function originForm(target = '/'): string {
  if (target.startsWith('/')) return target
  const path = target.replace(ABSOLUTE_FORM, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}
