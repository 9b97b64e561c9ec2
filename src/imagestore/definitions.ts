import { isImageHash, type ImageHash } from './image-fields.ts'
import {
  COMPASS_POINTS,
  defaultPresets,
  isKey,
  isName,
  NAME_TAKES,
  parseModifiers,
  type Changes,
  type CompassPoint,
  type Grammar,
  type ModifierFault,
} from './modifiers/index.ts'
import { asError } from '../lib/errors.ts'
import { isObject } from '../lib/json.ts'
import { SERVICE, type Client } from '../lib/client.ts'
import { type Database, VersionedCache } from '../storage/database/database.ts'
import { lockInstance } from '../storage/database/dialect.ts'
import * as queries from './queries-settings.ts'

/** Where a watermark lies and how large it is; `width` and `margin` in percent of the image's width. */
export interface WatermarkPlacement {
  readonly at: CompassPoint
  readonly width: number
  readonly margin: number
  /** Percent. */
  readonly opacity: number
}

export const DEFAULT_PLACEMENT: WatermarkPlacement = { at: 'se', width: 25, margin: 3, opacity: 100 }

export interface Watermark extends WatermarkPlacement {
  readonly image: ImageHash
}

/** The grammar of links with what the settings file for images adds to it. */
export interface ImageSettings extends Grammar {
  readonly watermarks: ReadonlyMap<string, Watermark>
  /** Whether all shared caches respect Vary, and may therefore store responses to f_auto. */
  readonly sharesVariants: boolean
}

export const defaultImageSettings: ImageSettings = {
  presets: defaultPresets,
  watermarks: new Map(),
  sharesVariants: false,
}

/** Presets, and watermarks. */
export const MAX_NAMES = 1_000
const SECTIONS = ['presets', 'watermarks', 'auto_format_cache']
const MARK_FIELDS = ['image', 'at', 'width', 'margin', 'opacity']

/** Reads the text of the settings file: all of its faults, one a line, or what it says. */
export function readImageSettings(text: string): ImageSettings | { readonly faults: readonly string[] } {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return { faults: [`it is not JSON: ${asError(error).message}`] }
  }
  const faults: string[] = []
  if (!isObject(json)) return { faults: ['must be an object'] }
  for (const name of Object.keys(json)) {
    if (!SECTIONS.includes(name))
      faults.push(`"${name}" is not known: use one of ${SECTIONS.map((one) => `"${one}"`).join(', ')}`)
  }
  const { auto_format_cache: caches = 'private' } = json
  if (caches !== 'private' && caches !== 'shared')
    faults.push('"auto_format_cache" takes "private" or "shared"')
  const watermarks = new Map<string, Watermark>()
  for (const [name, value] of members(json['watermarks'], 'watermarks')) {
    const mark = readMark(name, value)
    if (mark !== undefined) watermarks.set(name, mark)
  }
  // A preset may name a watermark that is wrong in itself: that is one fault, not two.
  const names = new Set(isObject(json['watermarks']) ? Object.keys(json['watermarks']) : [])
  const presets = new Map(defaultPresets)
  for (const [name, value] of members(json['presets'], 'presets')) {
    const fields = readPreset(name, value)
    if (fields !== undefined) presets.set(name, fields)
  }
  if (faults.length > 0) return { faults }
  return { presets, watermarks, sharesVariants: caches === 'shared' }

  function members(value: unknown, section: string): [name: string, value: unknown][] {
    if (value === undefined) return []
    const entries = isObject(value) ? Object.entries(value) : []
    if (!isObject(value)) faults.push(`"${section}" takes an object`)
    if (entries.length > MAX_NAMES) faults.push(`"${section}" takes up to ${MAX_NAMES} names`)
    return entries.slice(0, MAX_NAMES).filter(([name]) => {
      if (!isName(name)) faults.push(`${section}: "${name}" is not a name: it must have ${NAME_TAKES}`)
      return isName(name)
    })
  }

  function readPreset(name: string, value: unknown): Changes | undefined {
    const fault = (what: string): undefined => void faults.push(`presets: "${name}" ${what}`)
    if (defaultPresets.has(name)) return fault('is the name of a built-in one')
    if (isKey(name)) return fault('is a modifier')
    if (typeof value !== 'string' || value === '') return fault('takes the text of modifiers')
    const parsed = parseModifiers(value, undefined, { presets: new Map(), watermarks: names })
    if (!parsed.ok) {
      const { fault: found } = parsed
      return fault(`has «${found.token}», which is ${found.kind === 'range' ? 'not valid' : found.kind}`)
    }
    const { changes, expires, signature } = parsed
    if (expires !== undefined || signature !== undefined) return fault('takes neither exp_ nor sig_')
    return changes
  }

  function readMark(name: string, value: unknown): Watermark | undefined {
    const fault = (what: string): undefined => void faults.push(`watermarks: "${name}" ${what}`)
    if (!isObject(value)) return fault('takes an object with "image"')
    const strange = Object.keys(value).find((field) => !MARK_FIELDS.includes(field))
    if (strange !== undefined)
      return fault(`has the unknown field "${strange}": use ${MARK_FIELDS.join(', ')}`)
    const { image, at, width, margin, opacity } = { image: undefined, ...DEFAULT_PLACEMENT, ...value }
    if (typeof image !== 'string' || !isImageHash(image))
      return fault('takes the hash of an image as "image"')
    const point = COMPASS_POINTS.find((one) => one === at)
    if (point === undefined) return fault(`takes as "at" one of ${COMPASS_POINTS.join(', ')}`)
    if (!isPercent(width, 1)) return fault('takes a number from 1 to 100 as "width"')
    if (!isPercent(margin, 0)) return fault('takes a number from 0 to 100 as "margin"')
    if (!isPercent(opacity, 1)) return fault('takes a number from 1 to 100 as "opacity"')
    return { image, at: point, width, margin, opacity }
  }
}

const isPercent = (value: unknown, min: number): value is number =>
  typeof value === 'number' && value >= min && value <= 100

/** Watermarks may be defined after the presets that use them: links find out whether they exist. */
const ANY_WATERMARK = { presets: new Map(), watermarks: { has: () => true } }

/** Presets and watermarks that links may name: those of the settings file, and those that administrators define. */
export class ImageDefinitions {
  readonly #database: Database
  readonly #file: ImageSettings
  readonly #cache: VersionedCache<ImageSettings>

  constructor(database: Database, file: ImageSettings) {
    this.#database = database
    this.#file = file
    this.#cache = new VersionedCache(database, 'account', 1)
  }

  /** What links may use as of now. The same object until a definition changes, if nothing else did. */
  current(client: Client): Promise<ImageSettings> {
    return this.#cache.get('', async () => {
      const rows = await this.#database.readerOf(client).all(queries.allDefinitions())
      if (rows.length === 0) return this.#file
      const presets = new Map(this.#file.presets)
      const watermarks = new Map<string, Watermark>()
      for (const { kind, name, value } of rows) {
        if (kind === 'watermark') watermarks.set(name, JSON.parse(value))
        const parsed = kind === 'preset' ? parseModifiers(value, undefined, ANY_WATERMARK) : undefined
        // A newer version may have stored modifiers that this one does not know.
        if (parsed?.ok === true && !this.#isOfFile('preset', name)) presets.set(name, parsed.changes)
      }
      for (const [name, watermark] of this.#file.watermarks) watermarks.set(name, watermark)
      return { ...this.#file, presets, watermarks }
    })
  }

  /** The same from memory; undefined if the database has to be asked. */
  peek(): ImageSettings | undefined {
    return this.#cache.peek('')
  }

  /** What administrators defined, by name. */
  async list(kind: queries.DefinitionKind): Promise<queries.DefinitionRow[]> {
    return (await this.#database.all(queries.allDefinitions())).filter((row) => row.kind === kind)
  }

  /** The fault of the modifiers of a preset; undefined if they are valid. */
  async findFault(modifiers: string): Promise<ModifierFault | undefined> {
    const { watermarks } = await this.current(SERVICE.client)
    const parsed = parseModifiers(modifiers, undefined, { presets: new Map(), watermarks })
    if (!parsed.ok) return parsed.fault
    const { expires, signature } = parsed
    if (expires !== undefined) return { kind: 'unknown', token: `exp_${expires}` }
    return signature === undefined ? undefined : { kind: 'unknown', token: `sig_${signature}` }
  }

  /**
   * Stores a definition, or removes it. Links follow from the commit on.
   * @param value undefined to remove it
   * @returns `fixed` if the settings file defines the name, `full` if there are too many
   */
  async set(
    kind: queries.DefinitionKind,
    name: string,
    value: string | undefined,
  ): Promise<'changed' | 'fixed' | 'full'> {
    if (this.#isOfFile(kind, name)) return 'fixed'
    const { dialect } = this.#database
    return this.#database.transaction(async (tx) => {
      await tx.first(lockInstance(dialect))
      if (value === undefined) await tx.run(queries.removeDefinition(kind, name))
      else {
        const others = await tx.first(queries.countOthers(kind, name))
        if (Number(others?.count) >= MAX_NAMES) return 'full'
        await tx.run(queries.setDefinition({ kind, name, value }))
      }
      await tx.run(queries.announceDefinition(dialect, name))
      return 'changed'
    })
  }

  #isOfFile(kind: queries.DefinitionKind, name: string): boolean {
    const { presets, watermarks } = this.#file
    return (kind === 'preset' ? presets : watermarks).has(name)
  }
}
