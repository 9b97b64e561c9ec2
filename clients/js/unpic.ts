import { isUnsigned, MODIFIERS, parseLink, splitTokens, url, type Tokens } from './links.ts'

/** Operations of unpic, and tokens of links. */
export interface CatalejoOperations extends Tokens {
  width?: number | string
  height?: number | string
  format?: string
  quality?: number | string
}

export interface CatalejoOptions {
  /** The address of the service, for images that are given by hash or alias. */
  readonly base?: string
}

const NAMES: Readonly<Record<string, string>> = { w: 'width', h: 'height', f: 'format', q: 'quality' }

/** Returns a link without its modifiers, and these; null if it is signed, or not a link to an image. */
export function extract(
  link: string | URL,
): { src: string; operations: CatalejoOperations; options: CatalejoOptions } | null {
  const src = String(link)
  if (!isUnsigned(src)) return null
  const operations = splitTokens(parseLink(src).modifiers).flatMap(
    (token): [string, string | number | true][] => {
      const [, width, height] = /^(?:s_)?(\d+)x(\d+)$/.exec(token) ?? []
      if (width !== undefined)
        return [
          ['width', Number(width)],
          ['height', Number(height)],
        ]
      const [key = '', value = true] = token.split(/_(.*)/s)
      if (key === 'exp') return []
      if (!['p', ...MODIFIERS].includes(key)) return [['p', token]]
      return [[NAMES[key] ?? key, /^[whq]_\d+$/.test(token) ? Number(value) : value]]
    },
  )
  return { src: url('', src), operations: Object.fromEntries(operations), options: {} }
}

/** Returns the link of an image, in the format that suits the browser. With both sides it fills them. */
export function generate(
  src: string | URL,
  operations: CatalejoOperations,
  { base = '' }: CatalejoOptions = {},
): string {
  const image = String(src)
  if (!isUnsigned(image)) return image
  const { width, height, format = 'auto', quality, ...tokens } = operations
  const [w, h] = [width, height].map((side) => (side === undefined ? undefined : Math.round(Number(side))))
  const c = w === undefined || h === undefined ? undefined : 'fill'
  return url(base, image, { c, f: format, q: quality, w, h, ...tokens })
}

/** Returns a link with other operations: the transformer of unpic. */
export function transform(
  link: string | URL,
  operations: CatalejoOperations,
  options?: CatalejoOptions,
): string {
  const before = extract(link)
  if (before === null) return generate(link, operations, options)
  const changes = Object.entries(operations).filter(([, value]) => value !== undefined)
  return generate(before.src, { ...before.operations, ...Object.fromEntries(changes) }, options)
}
