import type { Option } from 'commander'
import { CatalejoCommand, settingsOf, SettingOption } from './command.ts'

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

/** A word that may come next, and what it means. */
interface Word {
  readonly word: string
  readonly meaning: string
}

interface Flag extends Word {
  readonly takesValue: boolean
  /** All permitted values; empty if they cannot be listed: then files are completed. */
  readonly values: readonly string[]
}

/** What can follow a command. */
interface CommandPath {
  /** Its words after `catalejo`, separated by spaces; empty for the program itself. */
  readonly path: string
  readonly commands: readonly Word[]
  readonly flags: readonly Flag[]
  /** The permitted values of its arguments, if they are known. */
  readonly values: readonly string[]
  readonly takesFiles: boolean
}

interface Completions {
  readonly paths: readonly CommandPath[]
  /** Flags of all commands that are settings. */
  readonly settings: readonly Flag[]
}

/** All flags with a value. A flag takes a value in all commands or in none. */
function flagsWithValue({ paths, settings }: Completions): string[] {
  const all = [...paths.flatMap(({ flags }) => flags), ...settings]
  return [...new Set(all.filter(({ takesValue }) => takesValue).map(({ word }) => word))]
}

/** Every `path word` that leads to a command, except `help`, whose arguments are the same words. */
function steps({ paths }: Completions): string[] {
  return paths.flatMap(({ path, commands }) =>
    commands.filter(({ word }) => word !== 'help').map(({ word }) => `${path} ${word}`),
  )
}

/** The known values of flags, by `path flag`; those of settings, which all commands accept, by ` flag`. */
function flagValues({ paths, settings }: Completions) {
  const listed = (flags: readonly Flag[]) => flags.filter(({ values }) => values.length > 0)
  const known = new Set(settings.map(({ word }) => word))
  return {
    ofCommands: paths.flatMap(({ path, flags }) =>
      listed(flags)
        .filter(({ word }) => !known.has(word))
        .map(({ word, values }) => ({ key: `${path} ${word}`, values })),
    ),
    ofSettings: listed(settings).map(({ word, values }) => ({ key: ` ${word}`, values })),
  }
}

/** A text between single quotes, as bash and zsh read it. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A completion script for bash 3.2 or newer, without dependencies. */
function bashScript(completions: Completions): string {
  const { paths } = completions
  const { ofCommands, ofSettings } = flagValues(completions)
  const words = (list: readonly string[]) => `words=${quoted(list.join(' '))}`
  return `# Completion of catalejo for bash. Load it with: source <(catalejo completion bash)
_catalejo() {
  local chosen= flag= word words= files= current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $flag ]]; then flag=; continue; fi
    case "$chosen $word" in
      ${steps(completions).map(quoted).join(' | ')})
        chosen="\${chosen:+$chosen }$word"
        continue ;;
    esac
    case "$word" in
      ${flagsWithValue(completions).join(' | ')}) flag=$word ;;
    esac
  done
  # Readline treats the equals sign of --flag=value as a separate word.
  if [[ $current == '=' ]]; then current=; fi
  if [[ -n $flag ]]; then
    case "$chosen $flag" in
${ofCommands.map(({ key, values }) => `      ${quoted(key)}) ${words(values)} ;;`).join('\n')}
${ofSettings.map(({ key, values }) => `      *${quoted(key)}) ${words(values)} ;;`).join('\n')}
      *) files=1 ;;
    esac
  elif [[ $current == -* ]]; then
    case "$chosen" in
${paths.map(({ path, flags }) => `      ${quoted(path)}) ${words(flags.map(({ word }) => word))} ;;`).join('\n')}
    esac
  else
    case "$chosen" in
${paths.flatMap(bashOperands).join('\n')}
    esac
  fi
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

function bashOperands({ path, commands, values, takesFiles }: CommandPath): string[] {
  if (takesFiles) return [`      ${quoted(path)}) files=1 ;;`]
  const words = [...commands.map(({ word }) => word), ...values]
  return words.length === 0 ? [] : [`      ${quoted(path)}) words=${quoted(words.join(' '))} ;;`]
}

/** A completion script for zsh, to be sourced after `compinit` or kept as `_catalejo` in a folder of `$fpath`. */
function zshScript(completions: Completions): string {
  const { paths } = completions
  const { ofCommands, ofSettings } = flagValues(completions)
  const values = (list: readonly string[]) => `compadd -- ${list.map(quoted).join(' ')}`
  return `#compdef catalejo
# Completion of catalejo for zsh. Load it with: source <(catalejo completion zsh)
_catalejo() {
  local chosen= flag= word
  local -a items
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $flag ]]; then flag=; continue; fi
    case "$chosen $word" in
      (${steps(completions).map(quoted).join('|')})
        chosen="\${chosen:+$chosen }$word"
        continue ;;
    esac
    case "$word" in
      (${flagsWithValue(completions).join('|')}) flag=$word ;;
    esac
  done
  if [[ -z $flag && $PREFIX == --*=* ]]; then
    flag=\${PREFIX%%=*}
    compset -P '*='
  fi
  if [[ -n $flag ]]; then
    case "$chosen $flag" in
${ofCommands.map(({ key, values: list }) => `      (${quoted(key)}) ${values(list)} ;;`).join('\n')}
${ofSettings.map(({ key, values: list }) => `      (*${quoted(key)}) ${values(list)} ;;`).join('\n')}
      (*) _files ;;
    esac
  elif [[ $PREFIX == -* ]]; then
    case "$chosen" in
${paths.map(({ path, flags }) => `      (${quoted(path)}) items=(${zshItems(flags)}) ;;`).join('\n')}
    esac
    _describe -o option items
  else
    case "$chosen" in
${paths.flatMap(zshOperands).join('\n')}
    esac
  fi
}
if [[ \${funcstack[1]} == _catalejo ]]; then _catalejo; else compdef _catalejo catalejo; fi
`
}

function zshOperands({ path, commands, values, takesFiles }: CommandPath): string[] {
  if (takesFiles) return [`      (${quoted(path)}) _files ;;`]
  if (commands.length > 0)
    return [`      (${quoted(path)}) items=(${zshItems(commands)}); _describe command items ;;`]
  return values.length === 0 ? [] : [`      (${quoted(path)}) compadd -- ${values.map(quoted).join(' ')} ;;`]
}

/** Items for `_describe`: the text after the first colon is the description. */
const zshItems = (words: readonly Word[]) =>
  words.map(({ word, meaning }) => quoted(`${word}:${meaning}`)).join(' ')

/** A completion script for fish 3 or newer. */
function fishScript(completions: Completions): string {
  return `# Completion of catalejo for fish. Load it with: catalejo completion fish | source
function __catalejo_at --description 'Whether the words so far name this command'
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
            case ${steps(completions).map(fishQuoted).join(' ')}
                set chosen (string trim -- "$chosen $word")
                continue
        end
        switch "$word"
            case ${flagsWithValue(completions).join(' ')}
                set flag $word
        end
    end
    test "$chosen" = "$argv[1]"
end
complete -c catalejo -e
complete -c catalejo -f
${completions.paths.flatMap(fishLines).join('\n')}
`
}

function fishLines({ path, commands, flags, values, takesFiles }: CommandPath): string[] {
  const at = `complete -c catalejo -n ${fishQuoted(`__catalejo_at ${fishQuoted(path)}`)}`
  return [
    ...commands.map(({ word, meaning }) => `${at} -a ${word} -d ${fishQuoted(meaning)}`),
    ...flags.map((flag) => `${at} -l ${flag.word.slice(2)}${fishValue(flag)} -d ${fishQuoted(flag.meaning)}`),
    ...(values.length === 0 ? [] : [`${at} -a ${fishQuoted(values.join(' '))}`]),
    ...(takesFiles ? [`${at} -F`] : []),
  ]
}

function fishValue({ takesValue, values }: Flag): string {
  if (!takesValue) return ''
  return values.length === 0 ? ' -r -F' : ` -x -a ${fishQuoted(values.join(' '))}`
}

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
