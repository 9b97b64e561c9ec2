import { asciiOf } from './records.ts'
import './name.css'

/** A name: its letters beyond ASCII underlined with dots, the words that were searched for tinted, the `.cl` in the back. */
export function DomainName(props: { name: string; match?: string; isAscii?: boolean }) {
  const { name, match = '', isAscii = false } = props
  const shown = isAscii ? (asciiOf(name) ?? name) : name
  return (
    <span className="domain mono" translate="no">
      {partsOf(shown, match).map(([text, isMatch], i) =>
        isMatch ? (
          <mark key={i}>
            <Letters text={text} />
          </mark>
        ) : (
          <Letters key={i} text={text} />
        ),
      )}
      <span className="suffix">.cl</span>
    </span>
  )
}

/** The name cut where words of the match begin and end. */
function partsOf(name: string, match: string): (readonly [text: string, isMatch: boolean])[] {
  const isMatched = new Uint8Array(name.length)
  for (const word of match.split(' ')) {
    const at = word === '' ? -1 : name.indexOf(word)
    if (at >= 0) isMatched.fill(1, at, at + word.length)
  }
  const parts: (readonly [string, boolean])[] = []
  for (let from = 0, to = 0; from < name.length; from = to) {
    while (to < name.length && isMatched[to] === isMatched[from]) to++
    parts.push([name.slice(from, to), isMatched[from] === 1])
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
