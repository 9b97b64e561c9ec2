import { parseArgs } from 'node:util'
import { readConfig, type Config, type Flags } from '../config/config.ts'
import { settings } from '../config/settings.ts'
import { WRONG_SETTINGS } from './exit-codes.ts'
import { usageFault } from './usage.ts'

interface Options {
  readonly config: Config
  readonly positionals: readonly string[]
  /** The flags of the subcommand itself. */
  readonly own: Flags
  /** Those of its switches that are on. */
  readonly switches: ReadonlySet<string>
}

/**
 * Reads a subcommand's words. What is wrong is told on standard error, with the exit code set, and the
 * result is then undefined.
 * @param ownFlags flags that the subcommand has beyond the settings, each with a value
 * @param ownSwitches those without one
 */
export function readOptions(
  args: readonly string[],
  ownFlags: readonly string[] = [],
  ownSwitches: readonly string[] = [],
): Options | undefined {
  const names = [...Object.values(settings).map(({ name }) => name), ...ownFlags]
  let parsed
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
        ...Object.fromEntries(ownSwitches.map((name) => [name, { type: 'boolean' as const }])),
      },
    })
  } catch (error) {
    usageFault(error instanceof Error ? error.message : String(error))
    return undefined
  }
  const flags: Record<string, string | undefined> = {}
  for (const name of names) {
    const value = parsed.values[name]
    if (typeof value === 'string') flags[name] = value
  }
  const result = readConfig(flags)
  for (const warning of result.warnings) console.error(warning)
  if (!result.ok) {
    for (const fault of result.faults) console.error(fault)
    process.exitCode = WRONG_SETTINGS
    return undefined
  }
  const switches = new Set(ownSwitches.filter((name) => parsed.values[name] === true))
  return { config: result.config, positionals: parsed.positionals, own: flags, switches }
}
