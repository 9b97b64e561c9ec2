import type { IncomingMessage } from 'node:http'

/** `host[:port]`, with a name, an IPv4 or a bracketed IPv6 address, or nothing (RFC 9110, section 7.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/i
let lastValid = ''

/**
 * Whether a request names one host, in a valid form; in HTTP/1.0 it may name none (RFC 9112, section 3.2). Of two, a proxy in
 * front could have believed the other one.
 */
export function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  const { host } = headers
  if (host === undefined) return httpVersion !== '1.1'
  if (host !== lastValid) {
    if (!HOST.test(host)) return false
    lastValid = host
  }
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1
}
