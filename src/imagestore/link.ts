import { isImageHash, type ImageHash } from './hash.ts'
import type { Parameter } from './links/modifiers/index.ts'

/** What a public link asks for. */
export interface LinkTarget {
  readonly hash: ImageHash
  /** The extension of the id, lower-cased, where there is one. */
  readonly extension: string | undefined
  /** The text of `m=`, from the path or the query. */
  readonly modifier: string | undefined
  /** The parameters that are not `m`. */
  readonly others: readonly Parameter[]
}

/** HTML writes `&` as `&amp;`: addresses copied from its source, or escaped twice, carry the rest of it. */
const HTML_REST = /^(?:amp;)+/

/**
 * Parses a public link: `<id>[.<ext>][&m=<modifier>][?m=<modifier>]`. Undefined when it names no image.
 * @param target what follows `/i/` in the address as it was sent, query included
 */
export function readLink(target: string): LinkTarget | undefined {
  // Most links are an id and nothing else.
  if (!/[&?%]/.test(target)) return readId(target, undefined, [])
  const [path = '', ...queries] = target.split('?')
  // Split first, then decode, so that a token may hold any character; some clients encode the `&` itself.
  const parts = path.includes('&') ? path.split('&').map(decode) : decode(path)?.split('&')
  if (parts === undefined || !parts.every((part) => part !== undefined)) return undefined
  const [id = '', ...rest] = parts
  // In a path a plus is a plus.
  const inPath = rest.map((part) => readParameter(part.replace(HTML_REST, '')))
  const inQuery = [...new URLSearchParams(queries.join('?'))].map(([name, value]) => ({
    name: name.replace(HTML_REST, ''),
    value,
  }))
  const parameters = [...inQuery, ...inPath]
  return readId(
    id,
    parameters.findLast(({ name }) => name === 'm')?.value,
    parameters.filter(({ name }) => name !== 'm'),
  )
}

function readParameter(part: string): Parameter {
  const at = part.indexOf('=')
  return at < 0 ? { name: part, value: '' } : { name: part.slice(0, at), value: part.slice(at + 1) }
}

function readId(
  id: string,
  modifier: string | undefined,
  others: readonly Parameter[],
): LinkTarget | undefined {
  const [name = '', extension, ...rest] = id.split('.')
  if (!isImageHash(name) || rest.length > 0) return undefined
  return { hash: name, extension: extension?.toLowerCase(), modifier, others }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
