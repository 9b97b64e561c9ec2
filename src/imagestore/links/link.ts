import {
  findMisplaced,
  formatOfExtension,
  parseModifiers,
  unknownModifier,
  type Grammar,
  type Parameter,
  type ParsedModifiers,
  canonical,
  isIdentity,
  MAX_SIDE_PIXELS,
  type ParsedText,
  type ResolvedTransformation,
  type Transformation,
} from '../modifiers/index.ts'
import { queryPairs } from '../../http/parameters.ts'
import { isImageHash, type ImageHash } from '../image-fields.ts'
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

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

/** Which links an application allows to its images, from the most to the least permissive. */
export const DELIVERY_MODES = ['open', 'ladder', 'presets', 'signed'] as const
export type DeliveryMode = (typeof DELIVERY_MODES)[number]

/** Delivery settings of an application that holds an image. */
export interface Holder {
  readonly mode: DeliveryMode
  /** Key of its signatures; null if it never signed a link. */
  readonly secret: string | null
}

/** `stepped`: rounded up to size steps. */
export type LinkSizes = 'exact' | 'stepped'

export type LinkAccess =
  | { readonly kind: 'granted'; readonly sizes: LinkSizes }
  | { readonly kind: 'expired' }
  /** `signed` is the text that a signature of the link covers. */
  | { readonly kind: 'forged'; readonly signed: string }
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'no-preset' }

/**
 * Returns whether a link may be served. A valid signature grants access in every mode: only the application can make one.
 * Several applications may hold an image under the same link: the most permissive mode applies.
 * @param now milliseconds since 1970
 */
export function authorizeLink(
  image: ImageHash | Alias,
  { transformation, changes, expires, signature }: ParsedText,
  holders: readonly Holder[],
  now: number,
): LinkAccess {
  const granted = (sizes: LinkSizes): LinkAccess => ({ kind: 'granted', sizes })
  const mode = DELIVERY_MODES.find((one) => holders.some((holder) => holder.mode === one)) ?? 'open'
  if (signature !== undefined) {
    const text = linkText(image, tokensOf(transformation, expires))
    if (!holders.some(({ secret }) => secret !== null && isSignedBy(secret, text, signature)))
      return { kind: 'forged', signed: text }
  }
  if (expires !== undefined && now >= expires * 1_000) return { kind: 'expired' }
  if (signature !== undefined) return granted('exact')
  switch (mode) {
    case 'open':
      return granted('exact')
    case 'ladder':
      return granted('stepped')
    case 'presets': {
      // A preset and perhaps a format: few combinations. The name of a file makes no other.
      const isPreset = Object.keys(changes).every((field) => field === 'format' || field === 'download')
      return isPreset || isIdentity(transformation) ? granted('exact') : { kind: 'no-preset' }
    }
    case 'signed':
      return { kind: 'unsigned' }
  }
}

/** Pixels. From 24 on a step is at most half as large again as the one below, so outputs are never much larger than requested. */
export const SIZE_STEPS = [
  16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 480, 512, 640, 768, 960, 1024, 1280, 1440, 1600, 1920,
  2048, 2560, 3072, 3840, 4096, 5120, 6144, 8192,
]

/** Rounds width and height up to the next step. The device pixel ratio goes into them. */
export function roundToSteps(transformation: ResolvedTransformation): ResolvedTransformation {
  const { width, height, dpr } = transformation
  const nextStep = (pixels: number) =>
    SIZE_STEPS.find((step) => step >= Math.round(pixels * dpr)) ?? MAX_SIDE_PIXELS
  return { ...transformation, width: width && nextStep(width), height: height && nextStep(height), dpr: 1 }
}

/** 128 bits: enough against guessing, and links stay short. */
const SIGNATURE_BYTES = 16

const tokensOf = (transformation: Transformation, expires: number | undefined): readonly string[] =>
  [canonical(transformation), expires === undefined ? '' : `exp_${expires}`].filter((token) => token !== '')

/**
 * Joins a link, without the address of the service and `/i/`. Signatures cover the link without their own token. Part of the
 * contract: links live for years, and applications sign them too.
 */
const linkText = (image: ImageHash | Alias, tokens: readonly string[]): string =>
  `${toLinkId(image)}&m=${tokens.join(',')}`

/** Returns a signed link, without the address of the service and `/i/`. */
export function signedLink(
  secret: string,
  image: ImageHash | Alias,
  transformation: Transformation,
  expires: number | undefined,
): string {
  const tokens = tokensOf(transformation, expires)
  return linkText(image, [...tokens, `sig_${signText(secret, linkText(image, tokens))}`])
}

function signText(secret: string, text: string): string {
  const digest = createHmac('sha256', secret).update(text).digest()
  return digest.subarray(0, SIGNATURE_BYTES).toString('base64url')
}

/**
 * Compares in constant time. Compares texts, not decoded bytes: the last of 22 base64 characters has four unused bits, so
 * decoding would accept 16 spellings of one signature.
 */
function isSignedBy(secret: string, text: string, signature: string): boolean {
  const given = Buffer.from(signature)
  const expected = Buffer.from(signText(secret, text))
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}

export const newLinkSecret = (): string => randomBytes(32).toString('base64url')
