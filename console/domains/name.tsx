import { asciiOf } from './records.ts'
import './name.css'

/** A name: its letters beyond ASCII underlined with dots, what was searched for tinted, the `.cl` in the back. */
export function DomainName(props: { name: string; match?: string; isAscii?: boolean }) {
  const { name, match = '', isAscii = false } = props
  const shown = isAscii ? (asciiOf(name) ?? name) : name
  const at = match === '' ? -1 : shown.indexOf(match)
  return (
    <span className="domain mono" translate="no">
      {at < 0 ? (
        <Letters text={shown} />
      ) : (
        <>
          <Letters text={shown.slice(0, at)} />
          <mark>
            <Letters text={shown.slice(at, at + match.length)} />
          </mark>
          <Letters text={shown.slice(at + match.length)} />
        </>
      )}
      <span className="suffix">.cl</span>
    </span>
  )
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
