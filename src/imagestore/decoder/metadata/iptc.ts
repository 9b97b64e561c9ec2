const IPTC = 0x0404
const SIGNATURE = '8BIM'
const BLOCK = 'Photoshop 3.0\0'
const MAX_BYTES = 60_000

/**
 * The content of a JPEG's APP13 segment with nothing but IPTC of Photoshop's resources: others hold thumbnails (1033, 1036), paths and
 * settings. Undefined where there is none.
 */
export function cleanIptc(resources: Buffer): Buffer | undefined {
  let at = resources.toString('latin1', 0, BLOCK.length) === BLOCK ? BLOCK.length : 0
  while (at + 12 <= resources.length && resources.toString('latin1', at, at + 4) === SIGNATURE) {
    // A name, with its length before it, to an even number of bytes; then the size.
    const size = at + 6 + even((resources[at + 6] ?? 0) + 1)
    if (size + 4 > resources.length) return undefined
    const data = size + 4
    const end = data + resources.readUInt32BE(size)
    if (end > resources.length) return undefined
    if (resources.readUInt16BE(at + 4) === IPTC && end - data <= MAX_BYTES) {
      const padding = Buffer.alloc(even(end) - end)
      const head = Buffer.from(`${BLOCK}${SIGNATURE}\x04\x04\0\0\0\0\0\0`, 'latin1')
      head.writeUInt32BE(end - data, head.length - 4)
      return Buffer.concat([head, resources.subarray(data, end), padding])
    }
    at = data + even(end - data)
  }
  return undefined
}

const even = (size: number): number => size + (size % 2)
