import { SERVICE, type Client } from '../lib/client.ts'
import type { Database } from '../storage/database/database.ts'
import { lockInstance } from '../storage/database/dialect.ts'
import { VersionedCache } from '../storage/database/versioned-cache.ts'
import { MAX_NAMES, type ImageSettings, type Watermark } from './image-settings.ts'
import { parseModifiers, type ModifierFault } from './modifiers/index.ts'
import * as queries from './queries-settings.ts'

export interface Preset {
  readonly name: string
  readonly modifiers: string
}

export interface NamedWatermark extends Watermark {
  readonly name: string
}

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
      const presets = new Map(this.#file.grammar.presets)
      for (const { name, modifiers } of rows.flatMap(toPreset)) {
        const parsed = parseModifiers(modifiers, undefined, ANY_WATERMARK)
        // A newer version may have stored modifiers that this one does not know.
        if (parsed.ok && !this.#isOfFile('preset', name)) presets.set(name, parsed.changes)
      }
      const stored = rows.flatMap(toWatermark).map(({ name, ...watermark }) => [name, watermark] as const)
      const watermarks = new Map([...stored, ...this.#file.watermarks])
      return { ...this.#file, grammar: { presets, watermarks }, watermarks }
    })
  }

  /** The same from memory; undefined if the database has to be asked. */
  peek(): ImageSettings | undefined {
    return this.#cache.peek('')
  }

  /** The presets that administrators defined, by name. */
  async presets(): Promise<Preset[]> {
    return (await this.#database.all(queries.allDefinitions())).flatMap(toPreset)
  }

  /** The watermarks that administrators defined, by name. */
  async watermarks(): Promise<NamedWatermark[]> {
    return (await this.#database.all(queries.allDefinitions())).flatMap(toWatermark)
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
    const { grammar, watermarks } = this.#file
    return kind === 'preset' ? grammar.presets.has(name) : watermarks.has(name)
  }
}

const toPreset = ({ kind, name, value }: queries.DefinitionRow): Preset[] =>
  kind === 'preset' ? [{ name, modifiers: value }] : []

const toWatermark = ({ kind, name, value }: queries.DefinitionRow): NamedWatermark[] => {
  if (kind !== 'watermark') return []
  const watermark: Watermark = JSON.parse(value)
  return [{ name, ...watermark }]
}
