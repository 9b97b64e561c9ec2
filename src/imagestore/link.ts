import { isImageHash, type ImageHash } from './hash.ts'

/** What a public link asks for. */
export interface LinkTarget {
  readonly hash: ImageHash
  /** The extension of the id, lower-cased, where there is one. */
  readonly extension: string | undefined
  /** The text of `m=`, from the path or the query. */
  readonly modifier: string | undefined
}

/**
 * Takes a public link apart: `<id>[.<ext>][&m=<modifier>][?m=<modifier>]`. Undefined when it names no image.
 * @param target what follows `/i/` in the address as it was sent, query included
 */
export function readLink(target: string): LinkTarget | undefined {
  // Most links are an id and nothing else.
  if (!/[&?%]/.test(target)) return readId(target, undefined)
  const [path = '', ...queries] = target.split('?')
  const query = queries.join('?')
  // Parts first, then what they hold, so that a token may be of any characters; some clients encode the `&` itself.
  const parts = path.includes('&') ? path.split('&').map(decode) : decode(path)?.split('&')
  if (parts === undefined || !parts.every((part) => part !== undefined)) return undefined
  const [id = '', ...rest] = parts
  // In a path a plus is a plus.
  const inPath = rest.findLast((part) => part === 'm' || part.startsWith('m='))?.slice(2)
  const modifier = inPath ?? new URLSearchParams(query).getAll('m').at(-1)
  return readId(id, modifier)
}

function readId(id: string, modifier: string | undefined): LinkTarget | undefined {
  const [name = '', extension, ...rest] = id.split('.')
  if (!isImageHash(name) || rest.length > 0) return undefined
  return { hash: name, extension: extension?.toLowerCase(), modifier }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
