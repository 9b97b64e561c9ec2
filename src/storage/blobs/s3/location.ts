/** Where in which object store the blobs are. */
export interface S3Location {
  readonly bucket: string
  /** Ends in a slash, unless it is empty. */
  readonly prefix: string
  /** Undefined for Amazon's own. */
  readonly endpoint: string | undefined
  /** Where clients find the store, if not at `endpoint`: for the addresses that they are sent to. */
  readonly publicEndpoint: string | undefined
  /** Undefined: what the AWS variables and files say. */
  readonly region: string | undefined
  /** The bucket in the path of an address instead of in its host name. */
  readonly pathStyle: boolean
}

export const S3_LOCATION_TAKES =
  's3://bucket/prefix?endpoint=https://…&public_endpoint=https://…&region=…&path_style=true|false, everything after the bucket optional'

const PARAMETERS = ['endpoint', 'public_endpoint', 'region', 'path_style']
/** Amazon's rules for names of buckets, and the older, looser ones that gateways keep. */
const BUCKET = /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,253}[a-zA-Z0-9]$/
/** Names that no signature, address or listing can take apart in another way than they were put together. */
const PREFIX = /^([a-zA-Z0-9._-]+(\/[a-zA-Z0-9._-]+)*\/?)?$/

/** Reads an address such as `s3://bucket/prefix?endpoint=http://127.0.0.1:7480`; undefined when it is none. */
export function parseS3Location(text: string): S3Location | undefined {
  const parts = /^s3:\/\/([^/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text)
  if (parts === null) return undefined
  const [, bucket = '', path = '', query = ''] = parts
  if (!BUCKET.test(bucket) || !PREFIX.test(path) || /(^|\/)\.\.?(\/|$)/.test(path)) return undefined
  const parameters = new URLSearchParams(query)
  const names = [...parameters.keys()]
  // A misspelt or repeated parameter would silently mean another store.
  if (names.some((name) => !PARAMETERS.includes(name)) || new Set(names).size < names.length) return undefined
  const endpoint = parameters.get('endpoint') ?? undefined
  if (endpoint !== undefined && !isEndpoint(endpoint)) return undefined
  const publicEndpoint = parameters.get('public_endpoint') ?? undefined
  if (publicEndpoint !== undefined && !isEndpoint(publicEndpoint)) return undefined
  const region = parameters.get('region') ?? undefined
  if (region !== undefined && !/^[a-zA-Z0-9-]+$/.test(region)) return undefined
  const style = parameters.get('path_style')
  if (style !== null && style !== 'true' && style !== 'false') return undefined
  return {
    bucket,
    prefix: path === '' || path.endsWith('/') ? path : `${path}/`,
    endpoint,
    publicEndpoint,
    region,
    // Few gateways have a certificate and a name for each bucket; Amazon wants the bucket in the name.
    pathStyle: style === null ? endpoint !== undefined : style === 'true',
  }
}

function isEndpoint(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  // Credentials belong in the AWS variables: an address gets logged.
  return url.search === '' && url.hash === '' && url.username === '' && url.password === ''
}
