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

/** A name that an application has given to an image. */
export interface Alias {
  readonly account: string
  readonly name: string
}

export const MAX_ALIAS_CHARACTERS = 60
export const isAliasName = (text: string): boolean => /^[a-z0-9_-]{1,60}$/.test(text)

/** What names an image in links, signatures and cache tags. */
export const toLinkId = (image: ImageHash | Alias): string =>
  typeof image === 'string' ? image : `@${encodeURIComponent(image.account)}/${image.name}`

/** The parts of a public link. */
export interface LinkTarget {
  readonly image: ImageHash | Alias
  /** In lower case, without the dot. */
  readonly extension: string | undefined
  /** The text of `m=`, from the path or the query. */
  readonly modifier: string | undefined
  /** All parameters but `m`. */
  readonly others: readonly Parameter[]
}

/** HTML writes `&` as `&amp;`: links that are copied from its source, or escaped twice, contain the rest of it. */
const HTML_ESCAPE_REST = /^(?:amp;)+/

/** An alias, and what follows it. Split before decoding, so that the name of an account may contain any character but `/`. */
const ALIAS = /^(?:@|%40)([^/?&]+)\/([^.?&%]+)(.*)$/s

/**
 * Parses a public link: `<id>[.<ext>][&m=<modifier>][?m=<modifier>]`, where `<id>` is a hash or `@<account>/<name>`. Undefined if it
 * is not a link to an image.
 * @param target what follows `/i/` in the address as it was sent, query included
 */
export function readLink(target: string): LinkTarget | undefined {
  const [, segment, name = '', rest = ''] = ALIAS.exec(target) ?? []
  if (segment === undefined) return readParts(target, undefined)
  const account = decode(segment)
  return account === undefined || !isAliasName(name) ? undefined : readParts(rest, { account, name })
}

/** @param target without the alias, if there is one */
function readParts(target: string, alias: Alias | undefined): LinkTarget | undefined {
  // Most links are an id only.
  if (!/[&?%]/.test(target)) return readId(target, alias, undefined, [])
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
    alias,
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
  alias: Alias | undefined,
  modifier: string | undefined,
  others: readonly Parameter[],
): LinkTarget | undefined {
  const [name = '', extension, ...rest] = id.split('.')
  const image = isImageHash(name) ? name : alias
  if (image === undefined || rest.length > 0 || (alias !== undefined && name !== '')) return undefined
  return { image, extension: extension?.toLowerCase(), modifier, others }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Other extensions of an image's own format. */
const SHORT_EXTENSIONS: Readonly<Record<string, string>> = { jpeg: 'jpg', tiff: 'tif', heic: 'heif' }

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
