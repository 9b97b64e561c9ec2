import { parseSize } from '../../../lib/units.ts'

/** The bucket and prefix of a store, and how to reach it. */
export interface S3Location {
  readonly bucket: string
  /** Ends in a slash, unless it is empty. */
  readonly prefix: string
  /** Undefined for Amazon S3. */
  readonly endpoint: string | undefined
  /** The endpoint in presigned URLs, if clients reach the store at another address. */
  readonly publicEndpoint: string | undefined
  /** Originals of this size or more are fetched by clients themselves, from the store. */
  readonly redirectBytes: number
  /** Undefined for the region of the AWS variables and files. */
  readonly region: string | undefined
  /** Whether the bucket is in the path of a URL instead of its host name. */
  readonly pathStyle: boolean
}

export const S3_LOCATION_TAKES =
  's3://bucket/prefix?endpoint=https://…&public_endpoint=https://…&redirect=1MiB&region=…&path_style=true|false, everything after the bucket optional'

const PARAMETERS = ['endpoint', 'public_endpoint', 'redirect', 'region', 'path_style']
/** Amazon's rules for bucket names, including the older, looser ones that gateways apply. */
const BUCKET = /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,253}[a-zA-Z0-9]$/
/** Names that need no escaping in signatures, URLs and listings. */
const PREFIX = /^([a-zA-Z0-9._-]+(\/[a-zA-Z0-9._-]+)*\/?)?$/

/** Parses an address such as `s3://bucket/prefix?endpoint=http://127.0.0.1:7480`. Undefined if it is invalid. */
export function parseS3Location(text: string): S3Location | undefined {
  const parts = /^s3:\/\/([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text)
  if (parts === null) return undefined
  const [, bucket = '', path = '', query = ''] = parts
  if (!BUCKET.test(bucket) || !PREFIX.test(path) || /(^|\/)\.\.?(\/|$)/.test(path)) return undefined
  const parameters = new URLSearchParams(query)
  const names = [...parameters.keys()]
  // Ignoring a misspelt or repeated parameter could select another store.
  if (names.some((name) => !PARAMETERS.includes(name)) || new Set(names).size < names.length) return undefined
  const endpoint = parameters.get('endpoint') ?? undefined
  if (endpoint !== undefined && !isEndpoint(endpoint)) return undefined
  const publicEndpoint = parameters.get('public_endpoint') ?? undefined
  if (publicEndpoint !== undefined && !isEndpoint(publicEndpoint)) return undefined
  const redirect = parameters.get('redirect')
  const redirectBytes = redirect === null ? Infinity : parseSize(redirect, 'B')
  if (redirectBytes === undefined) return undefined
  const region = parameters.get('region') ?? undefined
  if (region !== undefined && !/^[a-zA-Z0-9-]+$/.test(region)) return undefined
  const style = parameters.get('path_style')
  if (style !== null && style !== 'true' && style !== 'false') return undefined
  return {
    bucket,
    prefix: path === '' || path.endsWith('/') ? path : `${path}/`,
    endpoint,
    publicEndpoint,
    redirectBytes,
    region,
    // Few gateways have a host name and certificate per bucket; Amazon requires the bucket in the host name.
    pathStyle: style === null ? endpoint !== undefined : style === 'true',
  }
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  // Credentials belong in the AWS variables, because addresses are logged.
  return url.search === '' && url.hash === '' && url.username === '' && url.password === ''
}

/** Where backups are: a folder, or a prefix of an object store. */
export type BackupLocation =
  { readonly kind: 'folder'; readonly path: string } | { readonly kind: 's3'; readonly location: S3Location }

/** Reads the address of a place of backups. Undefined if it is an invalid address of an object store. */
export function parsePlace(text: string): BackupLocation | undefined {
  if (!text.startsWith('s3:')) return { kind: 'folder', path: text }
  const location = parseS3Location(text)
  return location && { kind: 's3', location }
}
