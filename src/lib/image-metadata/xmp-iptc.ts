/** The start of an element that holds pictures (thumbnails, previews, depth maps), with any prefix. */
const PICTURE_TAG = /<((?:[\w.-]+:)?(?:Thumbnails|image|Data|Preview|Thumbnail))\b[^<>]*>/g
/** The same as attributes. */
const PICTURE_ATTRIBUTE = /\s(?:[\w.-]+:)?(?:image|Data|Preview|Thumbnail)=(?:"[^"]*"|'[^']*')/g
/** Base64, with its line ends as they are or escaped. */
const BASE64_RUN = /(?:[A-Za-z0-9+/=\s]|&#x?[0-9a-fA-F]{1,4};)+/g
/** This much base64 in a row is not text. */
const MAX_BASE64_CHARACTERS = 2_000
/** White space at the end of a packet, reserved for edits. */
const PADDING = /\s{20,}/g
const MAX_XMP_BYTES = 64_000

/** Removes pictures from an XMP packet, in linear time. Undefined if some may be left. */
export function cleanXmp(xmp: Buffer): Buffer | undefined {
  if (xmp.length > MAX_XMP_BYTES * 2) return undefined
  const text = withoutPictureElements(xmp.toString('utf8'))
    ?.replace(PICTURE_ATTRIBUTE, '')
    .replace(PADDING, '\n')
  if (
    text === undefined ||
    text.match(BASE64_RUN)?.some((run) => run.length >= MAX_BASE64_CHARACTERS) === true
  )
    return undefined
  const clean = Buffer.from(text)
  return clean.length > MAX_XMP_BYTES ? undefined : clean
}

/** Undefined if such an element has no end. */
function withoutPictureElements(text: string): string | undefined {
  let result = ''
  let at = 0
  PICTURE_TAG.lastIndex = 0
  for (let tag = PICTURE_TAG.exec(text); tag !== null; tag = PICTURE_TAG.exec(text)) {
    result += text.slice(at, tag.index)
    at = PICTURE_TAG.lastIndex
    if (tag[0].endsWith('/>')) continue
    const endTag = `</${tag[1]}>`
    const end = text.indexOf(endTag, at)
    if (end < 0) return undefined
    at = end + endTag.length
    PICTURE_TAG.lastIndex = at
  }
  return result + text.slice(at)
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
