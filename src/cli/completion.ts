import type { Option } from 'commander'
import { CatalejoCommand } from '../command.ts'
import { settingsOf } from '../help.ts'
import { SettingOption } from '../setting-option.ts'

/** A word that may come next, and what it means. */
export interface Word {
  readonly word: string
  readonly meaning: string
}

export interface Flag extends Word {
  readonly takesValue: boolean
  /** All values it takes; empty if there are too many to list: then files are offered. */
  readonly values: readonly string[]
}

/** What may follow a command. */
export interface Place {
  /** Its words behind `catalejo`, separated by spaces; empty for the program itself. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly flags: readonly Flag[]
  /** The values of its arguments, where they are known. */
  readonly values: readonly string[]
  readonly takesFiles: boolean
}

export interface Completions {
  readonly places: readonly Place[]
  /** Flags of all commands that are settings. */
  readonly settings: readonly Flag[]
}

const FILE_ARGUMENTS = /^(FILE|FOLDER|PLACE)$/

const isSetting = (option: Option) => option instanceof SettingOption

/** Everything that a shell can complete, read from the definitions of the commands. */
export function completionsOf(program: CatalejoCommand): Completions {
  return { places: placesOf(program), settings: program.options.filter(isSetting).map(flagOf) }
}

function placesOf(command: CatalejoCommand): Place[] {
  const parts = command.commands.filter((one) => one instanceof CatalejoCommand)
  const options = command.options.filter((option) => !isSetting(option))
  const place: Place = {
    path: command.path.join(' '),
    commands: parts.map((one) => ({ word: one.name(), meaning: one.summary() || one.description() })),
    flags: [
      ...[...options, ...settingsOf(command)].map(flagOf),
      { word: '--help', meaning: 'show this help', takesValue: false, values: [] },
    ],
    values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFiles: command.registeredArguments.some((one) => FILE_ARGUMENTS.test(one.name())),
  }
  return [place, ...parts.flatMap(placesOf)]
}

function flagOf(option: Option): Flag {
  return {
    word: option.long ?? option.flags,
    meaning: option.description,
    takesValue: option.required,
    values: option.argChoices ?? [],
  }
}

/** Every flag with a value, once. A name means a flag with a value in all commands, or in none. */
export function flagsWithValue({ places, settings }: Completions): string[] {
  const flags = [...places.flatMap((place) => place.flags), ...settings]
  return [...new Set(flags.filter(({ takesValue }) => takesValue).map(({ word }) => word))]
}

/** Each `path word` that leads to a command. After `help` come the same words as without it, so it leads nowhere. */
export function steps({ places }: Completions): string[] {
  return places.flatMap(({ path, commands }) =>
    commands.filter(({ word }) => word !== 'help').map(({ word }) => `${path} ${word}`),
  )
}

/** The known values of flags, by `path flag`; those of settings, which all commands take, by ` flag` alone. */
export function flagValues({ places, settings }: Completions) {
  const listed = (flags: readonly Flag[]) => flags.filter(({ values }) => values.length > 0)
  const known = new Set(settings.map(({ word }) => word))
  return {
    ofCommands: places.flatMap(({ path, flags }) =>
      listed(flags)
        .filter(({ word }) => !known.has(word))
        .map(({ word, values }) => ({ key: `${path} ${word}`, values })),
    ),
    ofSettings: listed(settings).map(({ word, values }) => ({ key: ` ${word}`, values })),
  }
}

/** A text between single quotes, as bash and zsh read it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
