/** Elements and attributes that hold pictures (thumbnails, previews, depth maps), with any prefix. */
const PICTURES = [
  /<((?:[\w.-]+:)?Thumbnails)\b[^>]*>[\s\S]*?<\/\1>/g,
  /<((?:[\w.-]+:)?(?:image|Data|Preview|Thumbnail)\b)[^>]*>[\s\S]*?<\/\1>/g,
  /\s(?:[\w.-]+:)?(?:image|Data|Preview|Thumbnail)=(?:"[^"]*"|'[^']*')/g,
]
/** This much base64 in a row is not text. */
const BASE64_RUN = /(?:[A-Za-z0-9+/=]|&#x?[0-9a-fA-F]{1,4};|\s){2000}/
/** White space at the end of a packet, reserved for edits. */
const PADDING = /\s{20,}/g
const MAX_XMP_BYTES = 64_000

/** Removes pictures from an XMP packet. Undefined if some may be left. */
export function cleanXmp(xmp: Buffer): Buffer | undefined {
  if (xmp.length > MAX_XMP_BYTES * 2) return undefined
  let text = xmp.toString('utf8')
  for (const pattern of PICTURES) text = text.replace(pattern, '')
  text = text.replace(PADDING, '\n')
  const clean = Buffer.from(text)
  return BASE64_RUN.test(text) || clean.length > MAX_XMP_BYTES ? undefined : clean
}

const IPTC_RESOURCE = 0x0404
const RESOURCE_SIGNATURE = '8BIM'
const PHOTOSHOP_IDENTIFIER = 'Photoshop 3.0\0'
const MAX_IPTC_BYTES = 60_000

/**
 * Returns the content of a JPEG's APP13 segment with the IPTC resource only: other Photoshop resources hold thumbnails
 * (1033, 1036), paths and settings. Undefined if there is none.
 */
export function cleanIptc(resources: Buffer): Buffer | undefined {
  const hasIdentifier = resources.toString('latin1', 0, PHOTOSHOP_IDENTIFIER.length) === PHOTOSHOP_IDENTIFIER
  let at = hasIdentifier ? PHOTOSHOP_IDENTIFIER.length : 0
  while (at + 12 <= resources.length && resources.toString('latin1', at, at + 4) === RESOURCE_SIGNATURE) {
    // A name with its length before it, padded to an even number of bytes, then the size of the data.
    const sizeAt = at + 6 + toEven((resources[at + 6] ?? 0) + 1)
    if (sizeAt + 4 > resources.length) return undefined
    const start = sizeAt + 4
    const end = start + resources.readUInt32BE(sizeAt)
    if (end > resources.length) return undefined
    if (resources.readUInt16BE(at + 4) === IPTC_RESOURCE && end - start <= MAX_IPTC_BYTES) {
      const padding = Buffer.alloc(toEven(end) - end)
      const head = Buffer.from(`${PHOTOSHOP_IDENTIFIER}${RESOURCE_SIGNATURE}\x04\x04\0\0\0\0\0\0`, 'latin1')
      head.writeUInt32BE(end - start, head.length - 4)
      return Buffer.concat([head, resources.subarray(start, end), padding])
    }
    at = start + toEven(end - start)
  }
  return undefined
}

const toEven = (size: number): number => size + (size % 2)
