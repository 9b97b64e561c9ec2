/** Keys of modifiers in canonical order, which is that of the text that a signature covers. */
export const MODIFIERS = [
  'w',
  'h',
  'ar',
  'dpr',
  'up',
  'c',
  'g',
  'trim',
  'r',
  'flip',
  'flop',
  'pad',
  'bg',
  'f',
  'q',
  'blur',
  'sharpen',
  'gray',
  'pixelate',
  'rad',
  'frame',
  'meta',
  'wm',
  'rect',
  'rel',
  'bright',
  'contrast',
  'sat',
  'dl',
  'wmg',
  'wms',
  'wmo',
] as const

/** Tokens by key: `{ w: 300, c: 'fill', gray: true }`. `p` is a preset. */
export type Tokens = {
  readonly [Key in (typeof MODIFIERS)[number] | 'p']?: string | number | boolean | undefined
}
/** The text of `m=`, or its tokens. */
export type Modifiers = string | Tokens

export interface SignOptions {
  /** When the link expires, in seconds since 1970. */
  readonly expires?: number | undefined
  /** Presets of the operator with their modifiers, which a signature covers in place of the name. */
  readonly presets?: Readonly<Record<string, string>> | undefined
}

const PRESETS: Readonly<Record<string, string>> = {
  s: 's_90x90,c_fill',
  b: 's_160x160,c_fill',
  t: 's_160x160',
  thumb: 's_160x160',
  m: 's_320x320',
  l: 's_640x640',
  h: 's_1024x1024',
}
/** What the canonical text leaves out. */
const DEFAULTS = ['c_fit', 'g_center', 'dpr_1', 'bright_0', 'contrast_0', 'sat_0']
const SIGNATURE_BYTES = 16

/** Prefix, account and name of an alias or hash, extension, modifiers. */
const LINK =
  /^(|.*\/)(?:(?:@|%40)([^/?&]+)\/([a-z0-9_-]+)|([a-z2-7]{32}))(?:\.([A-Za-z]+))?(?:[?&](?:amp;)*m=([^?&]*))?$/

/** Returns what names an image by its alias in links. */
export const alias = (account: string, name: string): string => `@${encodeURIComponent(account)}/${name}`

/** Whether a text is a hash, an alias or a link whose modifiers can change, because no signature covers them. */
export const isUnsigned = (text: string): boolean => LINK.test(text) && !/[=,]sig_/.test(text)

interface Link {
  /** What precedes the image: the address of the service, and `/i/`. */
  readonly prefix: string
  readonly image: string
  readonly extension: string | undefined
  readonly modifiers: string
}

export function parseLink(link: string): Link {
  const [, prefix = '', account, name = '', hash = '', extension, modifiers = ''] = LINK.exec(link) ?? []
  const image = account === undefined ? hash : alias(decodeURIComponent(account), name)
  if (image === '') throw new TypeError(`not a link to an image: ${link}`)
  return { prefix, image, extension, modifiers: decodeURIComponent(modifiers) }
}

function tokensOf(modifiers: Modifiers): string {
  if (typeof modifiers === 'string') return modifiers
  return (['p', ...MODIFIERS] as const)
    .flatMap((key) => {
      const value = modifiers[key]
      if (value === undefined || value === false) return []
      return value === true ? [key] : [`${key}_${value}`]
    })
    .join(',')
}

/**
 * Returns the link of an image.
 * @param base the address of the service, such as `https://imagenes.example.cl`
 * @param image a hash, an `alias()`, or a whole link, whose modifiers are replaced
 */
export function url(base: string, image: string, modifiers: Modifiers = ''): string {
  const { prefix, image: id, extension } = parseLink(image)
  // Frameworks put a slash before names.
  const path = (prefix === '' || prefix === '/' ? `${base.replace(/\/$/, '')}/i/` : prefix) + id
  const text = tokensOf(modifiers)
  return `${path}${extension === undefined ? '' : `.${extension}`}${text === '' ? '' : `&m=${text}`}`
}

/** Returns links of an image in several widths, as the attribute `srcset` takes them. */
export function srcset(
  base: string,
  image: string,
  widths: readonly number[],
  modifiers: Modifiers = '',
): string {
  const inWidth = (width: number): Modifiers => {
    if (typeof modifiers !== 'string') return { ...modifiers, w: width }
    return modifiers === '' ? `w_${width}` : `${modifiers},w_${width}`
  }
  return widths.map((width) => `${url(base, image, inWidth(width))} ${width}w`).join(', ')
}

/**
 * Returns a link with its signature, whatever the order and spelling of its modifiers.
 * @param secret of the account, as `catalejo account secret` prints it
 */
export async function sign(link: string, secret: string, options: SignOptions = {}): Promise<string> {
  const { prefix, image, extension, modifiers } = parseLink(link)
  const text = `${image}&m=${canonical(modifiers, extension, options).join(',')}`
  const bytes = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), algorithm, false, ['sign'])
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text)))
  const base64 = btoa(String.fromCharCode(...digest.subarray(0, SIGNATURE_BYTES)))
  const signature = base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  return `${prefix}${text}${text.endsWith('=') ? '' : ','}sig_${signature}`
}

/** Signs each link of a `srcset`. */
export async function signSrcset(text: string, secret: string, options: SignOptions = {}): Promise<string> {
  const candidates = text.split(', ').map(async (candidate) => {
    const [link = '', width = ''] = candidate.split(' ')
    return `${await sign(link, secret, options)} ${width}`
  })
  return (await Promise.all(candidates)).join(', ')
}

/** Returns the tokens that a signature covers. Those of a link override those of its preset, and these its extension. */
function canonical(text: string, extension: string | undefined, options: SignOptions): string[] {
  const presets = { ...PRESETS, ...options.presets }
  const values = new Map<string, string>()
  const nameOf = (token: string) => token.replace(/^p_/, '')
  const isPreset = (token: string) => Object.hasOwn(presets, nameOf(token))
  const tokens = splitTokens(text)
  if (extension !== undefined) put(values, `f_${extension.toLowerCase()}`)
  for (const preset of tokens.filter(isPreset))
    for (const token of splitTokens(presets[nameOf(preset)] ?? '')) put(values, token)
  for (const token of tokens.filter((one) => !isPreset(one))) put(values, token)
  if (options.expires !== undefined) put(values, `exp_${options.expires}`)
  return [...MODIFIERS, 'exp']
    .flatMap((key) => values.get(key) ?? [])
    .filter((token) => !DEFAULTS.includes(token))
}

/** An extension at the end is one more token. */
export function splitTokens(text: string): string[] {
  const [, rest = '', format] = /^(.*)\.(webp|avif|jpe?g|png|gif)$/i.exec(text) ?? [text, text]
  return [...rest.split(','), ...(format === undefined ? [] : [`f_${format.toLowerCase()}`])].filter(
    (token) => token !== '',
  )
}

/** Stores the canonical spelling of a token by its key. */
function put(values: Map<string, string>, token: string): void {
  const [, width, height] = /^(?:s_)?(\d+)x(\d+)$/.exec(token) ?? []
  if (width !== undefined) {
    values.set('w', `w_${width}`).set('h', `h_${height}`)
    return
  }
  const cut = token.indexOf('_')
  const key = cut < 0 ? token : token.slice(0, cut)
  const isKnown = key === 'exp' || key === 'sig' || MODIFIERS.some((one) => one === key)
  if (!isKnown) throw new TypeError(`unknown modifier or preset: ${token}`)
  if (key === 'bg') values.set(key, `bg_${toColor(token.slice(cut + 1))}`)
  else if (token === 'f_jpeg') values.set(key, 'f_jpg')
  // Decimals have no trailing zeros.
  else values.set(key, token.replaceAll(/\.(\d*?)0+(?=_|$)/g, '.$1').replaceAll(/\.(?=_|$)/g, ''))
}

/** Eight lower-case hex digits. */
function toColor(digits: string): string {
  const full = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits
  return full.toLowerCase().padEnd(8, 'f')
}
