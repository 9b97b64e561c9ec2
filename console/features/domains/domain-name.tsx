import { toALabel } from './records.ts'
import './domain-name.css'

interface Props {
  readonly name: string
  readonly match?: string
  readonly isAscii?: boolean
  /** Its dictionary words. */
  readonly words?: readonly string[] | undefined
}

/**
 * A name: words in alternating colours, non-ASCII letters with a dotted underline, matches of the search
 * highlighted, `.cl` muted.
 */
export function DomainName({ name, match = '', isAscii = false, words = [] }: Props) {
  const shown = isAscii ? (toALabel(name) ?? name) : name
  return (
    <span className="domain mono" translate="no" title={`${shown}.cl`}>
      {toParts(shown, match, isAscii ? [] : words).map(({ text, isMatch, isSecond }, i) =>
        isMatch ? (
          <mark key={i} className={isSecond ? 'second-word' : undefined}>
            <Letters text={text} />
          </mark>
        ) : (
          <span key={i} className={isSecond ? 'second-word' : undefined}>
            <Letters text={text} />
          </span>
        ),
      )}
      <span className="suffix">.cl</span>
    </span>
  )
}

interface Part {
  readonly text: string
  readonly isMatch: boolean
  /** Whether it is in an even word, for alternating colours. */
  readonly isSecond: boolean
}

/** Splits the name at the boundaries of matches and words. */
function toParts(name: string, match: string, words: readonly string[]): Part[] {
  const isMatched = new Uint8Array(name.length)
  for (const word of match.split(' ')) {
    const at = word === '' ? -1 : name.indexOf(word)
    if (at >= 0) isMatched.fill(1, at, at + word.length)
  }
  const isSecond = new Uint8Array(name.length)
  let end = 0
  for (const [i, word] of words.entries()) {
    const at = name.indexOf(word, end)
    end = at + word.length
    if (i % 2 === 1) isSecond.fill(1, at, end)
  }
  const parts: Part[] = []
  for (let from = 0, to = 0; from < name.length; from = to) {
    while (to < name.length && isMatched[to] === isMatched[from] && isSecond[to] === isSecond[from]) to++
    parts.push({ text: name.slice(from, to), isMatch: isMatched[from] === 1, isSecond: isSecond[from] === 1 })
  }
  return parts
}

function Letters({ text }: { text: string }) {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return text.split(/([^\x20-\x7e]+)/).map((part, i) =>
    i % 2 === 0 ? (
      part
    ) : (
      <span key={i} className="beyond">
        {part}
      </span>
    ),
  )
}
