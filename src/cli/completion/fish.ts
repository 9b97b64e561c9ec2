import { flagsWithValue, steps, type Completions, type Flag, type Place } from './model.ts'

/** A completion script for fish 3 or newer. */
export function fishScript(completions: Completions): string {
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
            case ${steps(completions).map(quoted).join(' ')}
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
${completions.places.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, commands, flags, values, takesFiles }: Place): string[] {
  const at = `complete -c catalejo -n ${quoted(`__catalejo_at ${quoted(path)}`)}`
  return [
    ...commands.map(({ word, meaning }) => `${at} -a ${word} -d ${quoted(meaning)}`),
    ...flags.map((flag) => `${at} -l ${flag.word.slice(2)}${valueOf(flag)} -d ${quoted(flag.meaning)}`),
    ...(values.length === 0 ? [] : [`${at} -a ${quoted(values.join(' '))}`]),
    ...(takesFiles ? [`${at} -F`] : []),
  ]
}

function valueOf({ takesValue, values }: Flag): string {
  if (!takesValue) return ''
  return values.length === 0 ? ' -r -F' : ` -x -a ${quoted(values.join(' '))}`
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
