import type { Option } from 'commander'
import { CatalejoCommand, settingsOf, SettingOption } from './command.ts'

const FILE_ARGUMENTS = /^(FILE|FOLDER|PLACE)$/

/** A word that may come next, and what it means. */
type Word = readonly [word: string, meaning: string]

/** What can be written in one place of a command line. */
interface Place {
  /** The words of a command. After a blank, `-` for its flags, or one flag for its values. A first `*` means every command. */
  readonly at: string
  readonly words: readonly Word[]
  readonly takesFiles?: boolean
}

interface Completions {
  readonly places: readonly Place[]
  /** Every `path word` that leads to a command, except `help`, whose arguments are the same words. */
  readonly steps: readonly string[]
  /** A flag takes a value in all commands or in none. Files are completed unless there is a place for its values. */
  readonly flagsWithValue: readonly string[]
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

/** Derives everything that a shell can complete from the definitions of the commands. */
function completionsOf(program: CatalejoCommand): Completions {
  const commands = commandsFrom(program)
  const options = commands.flatMap((command) => command.options)
  return {
    places: [...commands.flatMap(placesOf), ...valuesOf('*', program.options.filter(isSetting))],
    steps: commands
      .filter((command) => command !== program && command.name() !== 'help')
      .map(({ path }) => `${path.slice(0, -1).join(' ')} ${path.at(-1)}`),
    flagsWithValue: [...new Set(options.filter(({ required }) => required).map(flagOf))],
  }
}

const partsOf = ({ commands }: CatalejoCommand) => commands.filter((one) => one instanceof CatalejoCommand)

const commandsFrom = (command: CatalejoCommand): CatalejoCommand[] => [
  command,
  ...partsOf(command).flatMap(commandsFrom),
]

const isSetting = (option: Option) => option instanceof SettingOption

const flagOf = (option: Option): string => option.long ?? option.flags

function placesOf(command: CatalejoCommand): Place[] {
  const path = command.path.join(' ')
  const { registeredArguments } = command
  const options = command.options.filter((option) => !isSetting(option))
  const parts = partsOf(command).map((one): Word => [one.name(), one.summary() || one.description()])
  const values = registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const takesFiles = registeredArguments.some((one) => FILE_ARGUMENTS.test(one.name()))
  const flags = [...options, ...settingsOf(command)].map((one): Word => [flagOf(one), one.description])
  return [
    { at: path, words: [...parts, ...values.map(withoutMeaning)], takesFiles },
    { at: `${path} -`, words: [...flags, ['--help', 'show this help']] },
    ...valuesOf(path, options),
  ]
}

/** The places of flags whose values are known. */
const valuesOf = (path: string, options: readonly Option[]): Place[] =>
  options.flatMap((option) =>
    option.argChoices === undefined
      ? []
      : [{ at: `${path} ${flagOf(option)}`, words: option.argChoices.map(withoutMeaning) }],
  )

const withoutMeaning = (word: string): Word => [word, '']

/** A text between single quotes, as bash and zsh read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A pattern of `case` that matches a place. */
const patternOf = ({ at }: Place) => (at.startsWith('*') ? `*${quoted(at.slice(1))}` : quoted(at))

/** A completion script for bash 3.2 or newer, without dependencies. */
function bashScript({ flagsWithValue, places, steps }: Completions): string {
  const itemsOf = ({ takesFiles, words }: Place) =>
    takesFiles === true ? 'files=1' : `words=${quoted(words.map(([word]) => word).join(' '))}`
  return `# Completion of catalejo for bash. Load it with: source <(catalejo completion bash)
_catalejo() {
  local chosen= flag= word words= files= current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then flag=; continue; fi
    case "$chosen $word" in
      ${steps.map(quoted).join(' | ')})
        chosen="\${chosen:+$chosen }$word"
        continue ;;
    esac
    case "$word" in
      ${flagsWithValue.join(' | ')}) flag=$word ;;
    esac
  done
  # Readline treats the equals sign of --flag=value as a separate word.
  if [[ $current == '=' ]]; then current=; fi
  local at=$chosen
  if [[ -n $flag ]]; then at="$chosen $flag"; elif [[ $current == -* ]]; then at="$chosen -"; fi
  case "$at" in
${places.map((place) => `    ${patternOf(place)}) ${itemsOf(place)} ;;`).join('\n')}
    *) files=1 ;;
  esac
  local IFS=$'\\n'
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "\${words// /$IFS}" -- "$current"))
  fi
}
complete -F _catalejo catalejo
`
}

/** A completion script for zsh, to be sourced after `compinit` or kept as `_catalejo` in a folder of `$fpath`. */
function zshScript({ flagsWithValue, places, steps }: Completions): string {
  // `_describe` takes what follows the first colon as the meaning.
  const itemOf = ([word, meaning]: Word) => quoted(meaning === '' ? word : `${word}:${meaning}`)
  const itemsOf = ({ takesFiles, words }: Place) =>
    takesFiles === true ? '_files; return' : `items=(${words.map(itemOf).join(' ')})`
  return `#compdef catalejo
# Completion of catalejo for zsh. Load it with: source <(catalejo completion zsh)
_catalejo() {
  local chosen= flag= word
  local -a items kind=(value)
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then flag=; continue; fi
    case "$chosen $word" in
      (${steps.map(quoted).join('|')})
        chosen="\${chosen:+$chosen }$word"
        continue ;;
    esac
    case "$word" in
      (${flagsWithValue.join('|')}) flag=$word ;;
    esac
  done
  if [[ -z $flag && $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    compset -P '*='
  fi
  local at=$chosen
  if [[ -n $flag ]]; then
    at="$chosen $flag"
  elif [[ $PREFIX == -* ]]; then
    at="$chosen -" kind=(-o option)
  fi
  case "$at" in
${places.map((place) => `    (${patternOf(place)}) ${itemsOf(place)} ;;`).join('\n')}
    (*) _files; return ;;
  esac
  _describe $kind items
}
if [[ \${funcstack[1]} == _catalejo ]]; then _catalejo; else compdef _catalejo catalejo; fi
`
}

/** A completion script for fish 3 or newer. */
function fishScript({ flagsWithValue, places, steps }: Completions): string {
  const itemsOf = ({ takesFiles, words }: Place) => {
    if (takesFiles === true) return '__fish_complete_path $current'
    return words.length === 0 ? '' : `printf '%s\\t%s\\n' ${words.flat().map(fishQuoted).join(' ')}`
  }
  return `# Completion of catalejo for fish. Load it with: catalejo completion fish | source
function __catalejo
    set -l chosen ''
    set -l flag ''
    set -l line (commandline -opc)
    set -e line[1]
    for word in $line
        if test -n "$flag"
            set flag ''
            continue
        end
        switch "$chosen $word"
            case ${steps.map(fishQuoted).join(' ')}
                set chosen (string trim -- "$chosen $word")
                continue
        end
        switch "$word"
            case ${flagsWithValue.join(' ')}
                set flag $word
        end
    end
    set -l current (commandline -ct)
    set -l prefix ''
    if test -z "$flag"; and string match -q -- '--*=*' $current
        set flag (string replace -r '=.*' '' -- $current)
        set current (string replace -r '^[^=]*=' '' -- $current)
        set prefix "$flag="
    end
    set -l at $chosen
    if test -n "$flag"
        set at "$chosen $flag"
    else if string match -q -- '-*' $current
        set at "$chosen -"
    end
    begin
        switch "$at"
${places.map((place) => `            case ${fishQuoted(place.at)}\n                ${itemsOf(place)}`).join('\n')}
            case '*'
                __fish_complete_path $current
        end
    end | string replace -r -- '^' "$prefix"
end
complete -c catalejo -e
complete -c catalejo -f -a '(__catalejo)'
`
}

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
