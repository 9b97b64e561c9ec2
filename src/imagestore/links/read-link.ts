import {
  findMisplaced,
  formatOfExtension,
  parseModifiers,
  unknownModifier,
  type Grammar,
  type Parameter,
  type ParsedModifiers,
} from '../modifiers/index.ts'
import { queryPairs } from '../../http/parameters.ts'
import { isImageHash, type ImageHash } from '../image-hash.ts'

/** The parts of a public link. */
export interface LinkTarget {
  readonly hash: ImageHash
  /** In lower case, without the dot. */
  readonly extension: string | undefined
  /** The text of `m=`, from the path or the query. */
  readonly modifier: string | undefined
  /** All parameters but `m`. */
  readonly others: readonly Parameter[]
}

/** HTML writes `&` as `&amp;`: links that are copied from its source, or escaped twice, contain the rest of it. */
const HTML_ESCAPE_REST = /^(?:amp;)+/

/**
 * Parses a public link: `<id>[.<ext>][&m=<modifier>][?m=<modifier>]`. Undefined if it is not a link to an image.
 * @param target what follows `/i/` in the address as it was sent, query included
 */
export function readLink(target: string): LinkTarget | undefined {
  // Most links are an id only.
  if (!/[&?%]/.test(target)) return readId(target, undefined, [])
  const [path = '', ...queries] = target.split('?')
  // Split before decoding, so that a token may contain any character. Some clients encode the `&` itself.
  const parts = path.includes('&') ? path.split('&').map(decode) : decode(path)?.split('&')
  if (parts === undefined || !parts.every((part) => part !== undefined)) return undefined
  const [id = '', ...rest] = parts
  // In a path, unlike in a query, a plus is a plus.
  const inPath = rest.map((part) => readParameter(part.replace(HTML_ESCAPE_REST, '')))
  const inQuery = (queryPairs(queries.join('?')) ?? []).map(([name, value]) => ({
    name: name.replace(HTML_ESCAPE_REST, ''),
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

/** Other extensions of an image's own format. */
const SHORT_EXTENSIONS: Readonly<Record<string, string>> = { jpeg: 'jpg', tiff: 'tif' }

/** Parses the modifiers of a link to an image of `format`. Undefined if no image can be made with the link's extension. */
export function parseLink(
  { extension, modifier = '', others }: LinkTarget,
  format: string,
  grammar: Grammar,
): ParsedModifiers | undefined {
  const misplaced = findMisplaced(others, grammar)
  if (misplaced !== undefined) return { ok: false, fault: unknownModifier(misplaced) }
  if (extension === undefined || extension === format || extension === SHORT_EXTENSIONS[format])
    return parseModifiers(modifier, undefined, grammar)
  const requested = formatOfExtension(extension)
  return requested && parseModifiers(modifier, requested, grammar)
}
