/** Elements and attributes with pictures in them: thumbnails, previews, depth maps, whatever their prefixes. */
const PICTURES = [
  /<((?:[\w.-]+:)?Thumbnails)\b[^>]*>[\s\S]*?<\/\1>/g,
  /<((?:[\w.-]+:)?(?:image|Data|Preview|Thumbnail)\b)[^>]*>[\s\S]*?<\/\1>/g,
  /\s(?:[\w.-]+:)?(?:image|Data|Preview|Thumbnail)=(?:"[^"]*"|'[^']*')/g,
]
/** So much base64 in a row is no text. */
const BASE64_RUN = /(?:[A-Za-z0-9+/=]|&#x?[0-9a-fA-F]{1,4};|\s){2000}/
/** White space at the end of a packet, which leaves room for edits. */
const PADDING = /\s{20,}/g
const MAX_BYTES = 64_000

/** An XMP packet without pictures in it; undefined where some may be left. */
export function cleanXmp(xmp: Buffer): Buffer | undefined {
  if (xmp.length > MAX_BYTES * 2) return undefined
  let text = xmp.toString('utf8')
  for (const pattern of PICTURES) text = text.replace(pattern, '')
  text = text.replace(PADDING, '\n')
  const clean = Buffer.from(text)
  return BASE64_RUN.test(text) || clean.length > MAX_BYTES ? undefined : clean
}
