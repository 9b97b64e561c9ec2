/**
 * A `Link` header (RFC 8288) to the next page: the same request with another cursor.
 * @param url the address of the request as it was sent
 */
export function nextLink(baseUrl: () => string, url: string, cursor: string): string {
  const base = new URL(baseUrl())
  // A client may also write a whole address in its request line: only the path is taken from it.
  const { pathname, searchParams } = new URL(url, base)
  searchParams.set('cursor', cursor)
  return `<${base.origin}${pathname}?${searchParams}>; rel="next"`
}
