import { TiffFields } from './tiff-fields.ts'

/**
 * Tags of what is needed to show the picture (TIFF 6.0 and its usual additions), the orientation and the colour profile among
 * them. All others go: Exif, GPS, XMP, IPTC, descriptions, makers' own, smaller pictures of it.
 */
const KEPT = new Set([
  254, 255, 256, 257, 258, 259, 262, 263, 266, 273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 290, 291,
  292, 293, 296, 297, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 332, 334, 336, 338, 339, 340, 341,
  347, 529, 530, 531, 532, 34675,
])
const MAX_DIRECTORIES = 4_096
/** Tags whose values are where other directories lie: pictures beside the picture, Exif, GPS, interoperability. */
const DIRECTORIES = new Set([330, 34665, 34853, 40965])
/** Where the bytes of such a picture lie, and how many there are: strips, tiles, an old JPEG. */
const PARTS = [
  [273, 279],
  [324, 325],
  [513, 514],
] as const

/**
 * In place: entries are taken out of the directories, and what they pointed to becomes zeros. Undefined, or a RangeError, for what
 * points past the file.
 */
export function stripTiff(original: Buffer): Buffer | undefined {
  const bytes = Buffer.from(original)
  const fields = new TiffFields(bytes)
  let directories = 0
  let at = fields.firstDirectory
  while (at !== 0) {
    if (++directories > MAX_DIRECTORIES) return undefined
    const { entries, end } = fields.directoryAt(at)
    const kept: Buffer[] = []
    for (const entry of entries) {
      const tag = fields.tagOf(entry)
      if (KEPT.has(tag)) kept.push(Buffer.from(bytes.subarray(entry, entry + fields.entryBytes)))
      else if (DIRECTORIES.has(tag)) fields.numbersOf(entry).forEach(clearDirectory)
      else if (!clearValue(entry)) return undefined
    }
    const next = Buffer.from(bytes.subarray(end, end + fields.offsetBytes))
    const nextDirectory = fields.offsetAt(end)
    bytes.fill(0, at, end + fields.offsetBytes)
    fields.writeDirectory(at, kept, next)
    at = nextDirectory
  }
  return directories > MAX_DIRECTORIES ? undefined : bytes

  /** False where the value is not in the file. */
  function clearValue(entry: number): boolean {
    const { at: place, size, inside } = fields.placeOf(entry)
    if (inside) return true
    if (place + size > bytes.length) return false
    bytes.fill(0, place, place + size)
    return true
  }

  /** A directory beside those of the pages, with what lies under it. Being zeros afterwards, one that holds itself ends. */
  function clearDirectory(first: number): void {
    const open = [first]
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (++directories > MAX_DIRECTORIES) return
      const { entries, end } = fields.directoryAt(one)
      const numbers = (tag: number) => {
        const entry = entries.find((candidate) => fields.tagOf(candidate) === tag)
        return entry === undefined ? [] : fields.numbersOf(entry)
      }
      for (const [places, sizes] of PARTS) {
        const lengths = numbers(sizes)
        numbers(places).forEach((place, i) => bytes.fill(0, place, place + (lengths[i] ?? 0)))
      }
      for (const tag of DIRECTORIES) open.push(...numbers(tag))
      // What makers write there may point anywhere: then there is nothing to clear.
      entries.forEach(clearValue)
      bytes.fill(0, one, end + fields.offsetBytes)
    }
  }
}
