import type { Option } from 'commander'
import { CatalejoCommand } from './command.ts'
import {
  bashScript,
  fishScript,
  zshScript,
  type CommandPath,
  type Completions,
  type Flag,
} from './completion-scripts.ts'
import { settingsOf } from './help.ts'
import { SettingOption } from './options.ts'

/** A word that may come next, and what it means. */
const FILE_ARGUMENTS = /^(FILE|FOLDER|PLACE)$/

const isSetting = (option: Option) => option instanceof SettingOption

/** Derives everything that a shell can complete from the definitions of the commands. */
function completionsOf(program: CatalejoCommand): Completions {
  return { paths: pathsOf(program), settings: program.options.filter(isSetting).map(flagOf) }
}

function pathsOf(command: CatalejoCommand): CommandPath[] {
  const parts = command.commands.filter((one) => one instanceof CatalejoCommand)
  const options = command.options.filter((option) => !isSetting(option))
  const path: CommandPath = {
    path: command.path.join(' '),
    commands: parts.map((one) => ({ word: one.name(), meaning: one.summary() || one.description() })),
    flags: [
      ...[...options, ...settingsOf(command)].map(flagOf),
      { word: '--help', meaning: 'show this help', takesValue: false, values: [] },
    ],
    values: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesFiles: command.registeredArguments.some((one) => FILE_ARGUMENTS.test(one.name())),
  }
  return [path, ...parts.flatMap(pathsOf)]
}

function flagOf(option: Option): Flag {
  return {
    word: option.long ?? option.flags,
    meaning: option.description,
    takesValue: option.required,
    values: option.argChoices ?? [],
  }
}

const SCRIPTS: Readonly<Record<string, (completions: Completions) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** `catalejo completion SHELL`. The script contains all words, so completing one starts no process. */
export function printCompletion(program: CatalejoCommand, shell: string): void {
  const write = SCRIPTS[shell]
  if (write !== undefined) process.stdout.write(write(completionsOf(program)))
}
