import {
  flagsWithValue,
  flagValues,
  quoted,
  steps,
  type Completions,
  type Place,
  type Word,
} from './model.ts'

/** A completion script for zsh, to be sourced after `compinit` or kept as `_catalejo` in a folder of `$fpath`. */
export function zshScript(completions: Completions): string {
  const { places } = completions
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
${places.map(({ path, flags }) => `      (${quoted(path)}) items=(${described(flags)}) ;;`).join('\n')}
    esac
    _describe -o option items
  else
    case "$chosen" in
${places.flatMap(operands).join('\n')}
    esac
  fi
}
if [[ \${funcstack[1]} == _catalejo ]]; then _catalejo; else compdef _catalejo catalejo; fi
`
}

function operands({ path, commands, values, takesFiles }: Place): string[] {
  if (takesFiles) return [`      (${quoted(path)}) _files ;;`]
  if (commands.length > 0)
    return [`      (${quoted(path)}) items=(${described(commands)}); _describe command items ;;`]
  return values.length === 0 ? [] : [`      (${quoted(path)}) compadd -- ${values.map(quoted).join(' ')} ;;`]
}

/** As _describe reads them: what is behind the first colon is the description. */
const described = (words: readonly Word[]) =>
  words.map(({ word, meaning }) => quoted(`${word}:${meaning}`)).join(' ')
