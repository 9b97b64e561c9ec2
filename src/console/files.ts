import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'

export interface ConsoleSettings {
  /** The path of the service: empty, or with a leading slash and no trailing one. */
  readonly prefix: string
  readonly timeZone: string
  /** Where watches can send messages, as the API names the channels. */
  readonly channels: readonly string[]
}

/** Next to `src/` in a checkout and to `dist/` in a release. */
const FOLDER = fileURLToPath(new URL('../../assets/console/', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  woff2: 'font/woff2',
}

export interface Encoded {
  readonly bytes: Uint8Array
  readonly encoding: 'br' | 'gzip' | undefined
}

/** A file of the console, held in memory. All of them together take half a megabyte. */
export interface ConsoleFile {
  readonly type: string
  /** A digest of its content. */
  readonly tag: string
  /** Returns the smallest encoding that the client accepts. */
  encoded(acceptEncoding: string): Encoded
}

/** Loads all files, by their path under `/console/`. Texts are stored compressed by Brotli (`.br`). Empty if the console was not built. */
export function loadFiles(settings: ConsoleSettings): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>()
  if (!existsSync(FOLDER)) return files
  for (const entry of readdirSync(FOLDER, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(FOLDER.length).replaceAll('\\', '/')
    const bytes = readFileSync(path)
    if (name === 'index.html.br') files.set('index.html', page(brotliDecompressSync(bytes), settings))
    else if (name.endsWith('.br')) files.set(name.slice(0, -3), text(name.slice(0, -3), bytes))
    else files.set(name, plain(name, bytes))
  }
  return files
}

/** Inserts the path prefix, the time zone and the channels of the service into the page. */
function page(bytes: Buffer, { channels, prefix, timeZone }: ConsoleSettings): ConsoleFile {
  const html = bytes
    .toString()
    .replace('<base href="/console/"', `<base href="${prefix}/console/"`)
    .replace('content="America/Santiago"', `content="${timeZone}"`)
    .replace(
      'name="catalejo-channels" content=""',
      `name="catalejo-channels" content="${channels.join(' ')}"`,
    )
  return text('index.html', brotliCompressSync(html))
}

function plain(name: string, bytes: Uint8Array): ConsoleFile {
  const encoded = { bytes, encoding: undefined }
  return { type: typeOf(name), tag: tagOf(bytes), encoded: () => encoded }
}

function text(name: string, compressed: Uint8Array): ConsoleFile {
  const br: Encoded = { bytes: compressed, encoding: 'br' }
  let gzip: Encoded | undefined
  let identity: Encoded | undefined
  return {
    type: typeOf(name),
    tag: tagOf(compressed),
    // Encoded on first use: browsers accept Brotli over https and from localhost only.
    encoded: (acceptEncoding) => {
      if (accepts(acceptEncoding, 'br')) return br
      identity ??= { bytes: brotliDecompressSync(compressed), encoding: undefined }
      if (!accepts(acceptEncoding, 'gzip')) return identity
      gzip ??= { bytes: gzipSync(identity.bytes, { level: 9 }), encoding: 'gzip' }
      return gzip
    },
  }
}

/** RFC 9110, section 12.5.3, ignoring preferences: the smallest encoding is best for both sides. */
function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
    return name === encoding && !parameters.some((one) => /^q=0(\.0*)?$/.test(one))
  })
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

function tagOf(bytes: Uint8Array): string {
  return hash('sha256', bytes).slice(0, 20)
}
