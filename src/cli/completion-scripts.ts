import { flagsWithValue, flagValues, quoted, steps, type Completions, type Place } from './model.ts'

/** A completion script for bash 3.2 or newer that needs nothing else. */
export function bashScript(completions: Completions): string {
  const { places } = completions
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
  # Readline takes the equals sign of --flag=value for a word of its own.
  if [[ $current == '=' ]]; then current=; fi
  if [[ -n $flag ]]; then
    case "$chosen $flag" in
${ofCommands.map(({ key, values }) => `      ${quoted(key)}) ${words(values)} ;;`).join('\n')}
${ofSettings.map(({ key, values }) => `      *${quoted(key)}) ${words(values)} ;;`).join('\n')}
      *) files=1 ;;
    esac
  elif [[ $current == -* ]]; then
    case "$chosen" in
${places.map(({ path, flags }) => `      ${quoted(path)}) ${words(flags.map(({ word }) => word))} ;;`).join('\n')}
    esac
  else
    case "$chosen" in
${places.flatMap(operands).join('\n')}
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

function operands({ path, commands, values, takesFiles }: Place): string[] {
  if (takesFiles) return [`      ${quoted(path)}) files=1 ;;`]
  const words = [...commands.map(({ word }) => word), ...values]
  return words.length === 0 ? [] : [`      ${quoted(path)}) words=${quoted(words.join(' '))} ;;`]
}
