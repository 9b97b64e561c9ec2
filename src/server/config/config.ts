import { readFileSync } from 'node:fs'
import { closestName } from '../../lib/text.ts'
import { environmentName, settings, type Setting } from './settings.ts'

type Values = typeof settings
type Read = {
  readonly [K in keyof Values]: Values[K] extends Setting<infer T> ? T : never
}

const all: { readonly [K in keyof Read]: Setting<Read[K]> } = settings
const isKey = (key: string): key is keyof Read => Object.hasOwn(settings, key)
const isComplete = (values: Partial<Read>): values is Read =>
  Object.keys(settings).every((key) => Object.hasOwn(values, key))

/** A setting as administrators see it, without secrets. */
export interface ShownSetting {
  /** The variable: `CATALEJO_PORT`. */
  readonly name: string
  readonly value: string
  readonly from: 'flag' | 'environment' | 'file' | 'default'
}

export interface Config extends Read {
  /** All settings, in the order of the documentation. */
  readonly shown: readonly ShownSetting[]
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  /** One line per fault: the setting, its value, where it was set, and the permitted values. */
  | { readonly ok: false; readonly faults: readonly string[]; readonly warnings: readonly string[] }

/** Values of flags by name. */
export type Flags = Readonly<Record<string, string | undefined>>

interface Source {
  readonly text: string
  readonly kind: 'flag' | 'environment' | 'file'
  /** The source as error messages name it. */
  readonly from: string
}

/** Reads every setting, and reports all faults. Flags override the environment, which overrides defaults. */
export function readConfig(flags: Flags = {}, environment: NodeJS.ProcessEnv = process.env): ConfigResult {
  const faults: string[] = []
  const shown: ShownSetting[] = []

  function read<T>(setting: Setting<T>): T {
    const source = find(setting.name)
    shown.push(shownSetting(setting, source))
    if (source === undefined) return setting.default
    const parsed = setting.parse(source.text)
    if ('value' in parsed) return parsed.value
    if (parsed.faults !== undefined) {
      const from = `${environmentName(setting.name)}: «${source.text}» (${source.from})`
      faults.push(...parsed.faults.map((fault) => `${from}: ${fault}`))
      return setting.default
    }
    faults.push(
      `${environmentName(setting.name)}: «${setting.show?.(source.text) ?? source.text}» (${source.from}) must be ${parsed.takes}`,
    )
    return setting.default
  }

  function find(name: string): Source | undefined {
    const variable = environmentName(name)
    const flag = flags[name]
    if (flag !== undefined) return { text: flag, kind: 'flag', from: `flag --${name}` }
    const direct = environment[variable]
    const path = environment[`${variable}_FILE`]
    if (direct !== undefined && path !== undefined) {
      faults.push(`${variable}: set twice, directly and by ${variable}_FILE «${path}»; set only one of them`)
    }
    if (direct !== undefined) return { text: direct, kind: 'environment', from: 'environment' }
    if (path === undefined) return undefined
    try {
      return { text: readFileSync(path, 'utf8').trim(), kind: 'file', from: `file ${path}` }
    } catch {
      faults.push(
        `${variable}_FILE: «${path}» (environment) cannot be read: it must be the path of a readable file`,
      )
      return undefined
    }
  }

  const values: { -readonly [K in keyof Read]?: Read[K] } = {}
  function readInto<K extends keyof Read>(key: K): void {
    values[key] = read(all[key])
  }
  for (const key of Object.keys(settings)) if (isKey(key)) readInto(key)
  if (!isComplete(values)) throw new Error('a setting was not read')
  if (values.authHeader !== '' && values.trustedProxies.length === 0)
    faults.push('CATALEJO_AUTH_HEADER needs CATALEJO_TRUSTED_PROXIES: only a proxy named there may sign in')
  const config: Config = { ...values, shown }
  const warnings = [...unknownNames(environment), ...withoutEffect(shown)]
  return faults.length > 0 ? { ok: false, faults, warnings } : { ok: true, config, warnings }
}

function shownSetting<T>(setting: Setting<T>, source: Source | undefined): ShownSetting {
  const name = environmentName(setting.name)
  if (source === undefined) return { name, value: setting.defaultText, from: 'default' }
  return { name, value: setting.show?.(source.text) ?? source.text, from: source.kind }
}

/** Warns about settings that were set without the one they need. */
function withoutEffect(shown: readonly ShownSetting[]): string[] {
  const given = new Set(
    shown.filter(({ from, value }) => from !== 'default' && value !== '').map(({ name }) => name),
  )
  return Object.values(settings).flatMap(({ name, needs }: Setting<unknown>) => {
    if (needs === undefined) return []
    const [variable, needed] = [environmentName(name), environmentName(needs)]
    return given.has(variable) && !given.has(needed) ? [`${variable} has no effect without ${needed}`] : []
  })
}

function unknownNames(environment: NodeJS.ProcessEnv): string[] {
  const known = Object.values(settings).flatMap(({ name }) => [
    environmentName(name),
    `${environmentName(name)}_FILE`,
  ])
  return Object.keys(environment)
    .filter((name) => name.startsWith('CATALEJO_') && !known.includes(name))
    .map((name) => `${name} is not a known setting, did you mean ${closestName(name, known)}?`)
}
