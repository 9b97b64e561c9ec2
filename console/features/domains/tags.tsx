import { toALabel, type DomainRecord } from './records.ts'
import { Tag } from '../../design/elements.tsx'
import { dateTime, t, tn } from '../../i18n/index.ts'
import { useSyncExternalStore } from 'react'
import { DISCARDED_RETENTION_DAYS } from '../../base/constants.ts'
import { toEpoch, serverNow } from '../../base/server.ts'
import { useStore } from '../../base/store.ts'
import { patches } from './optimistic-updates.ts'

interface NameProps {
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
export function DomainName({ name, match = '', isAscii = false, words = [] }: NameProps) {
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

export function StatusTag({ status }: { status: number }) {
  return status === 1 ? (
    <Tag icon="lock" label={t('domains.registered')} />
  ) : (
    <Tag icon="check" look="free" label={t('domains.free')} />
  )
}

export function MarkTags({ record, left }: { record: DomainRecord; left: TimeLeft | undefined }) {
  return (
    <>
      {record.revision === 1 && <Tag icon="flag" look="review" label={t('domains.review')} />}
      {record.reserved === 1 && <Tag label={t('domains.reserved')} />}
      {record.discarded === 1 && (
        <Tag
          icon={left === undefined ? 'trash' : 'clock'}
          label={left === undefined ? t('domains.discarded') : <Left time={timeLeftText(left)} />}
        />
      )}
    </>
  )
}

const Left = ({ time }: { time: string }) => (
  <Abbreviated text={t('domains.discardedLeft', { left: time })} short={time} />
)

/** Shows a few words in place of a text that screen readers say. */
const Abbreviated = ({ text, short }: { text: string; short: string }) => (
  <>
    <Hidden text={text} />
    <span aria-hidden="true" className="figures">
      {short}
    </span>
  </>
)

/** In rows only the last days are marked: at first every registered name has them. */
const LAST_DAYS = 7

/** How many days are left to object to the registration. */
export function ObjectionTag({ record, isRow = false }: { record: DomainRecord; isRow?: boolean }) {
  const days = objectionDays(record)
  if (days === undefined || (isRow && days > LAST_DAYS)) return null
  const text = tn('domains.objectionLeft', days)
  const short = <Abbreviated text={text} short={t('domains.objectionShort', { n: days })} />
  return <Tag icon="alert" title={text} label={isRow ? short : text} />
}

const Short = ({ text }: { text: string }) => <span className="ellipsis">{text}</span>
const Hidden = ({ text }: { text: string }) => <span className="visually-hidden">{text}</span>

/** Who discarded an earlier record of the name, and when. */
export function DismissedTag({ record: { dismissed_by: by, dismissed_at: at } }: { record: DomainRecord }) {
  if (typeof at !== 'string') return null
  return (
    <Tag
      icon="trash"
      title={at}
      label={typeof by === 'string' ? t('domains.dismissedBy', { account: by }) : t('domains.dismissed')}
    />
  )
}

/** Who has decided on a record and when; undefined until the decision is stored. */
export function seenBy({ seen_by: account, seen_at: at }: DomainRecord): string | undefined {
  if (typeof account !== 'string' || typeof at !== 'string') return undefined
  return t('domains.seenBy', { account, date: dateTime(at) })
}

/** Tags that fit in a row; the details show all. */
const MAX_TAGS = 2

/** Annotations of a name: who holds it, whether it has a note, who has decided, and its tags, which may be cut off. */
export function DecisionTags({ record }: { record: DomainRecord }) {
  const { tags = [], note = '', seen, claimed_by: holder } = record
  const held = typeof holder === 'string' ? t('columns.heldBy', { account: holder }) : undefined
  const decided = [t('domains.isSeen'), seenBy(record)].join(' ').trim()
  return (
    <>
      {held !== undefined && <Tag icon="person" look="shortens" title={held} label={<Short text={held} />} />}
      {note !== '' && <Tag icon="note" title={note} label={<Hidden text={t('columns.note', { note })} />} />}
      {seen === 1 && <Tag icon="check" title={decided} label={<Hidden text={decided} />} />}
      {tags.slice(0, MAX_TAGS).map((tag) => (
        <Tag key={tag} look="own shortens" title={tag} label={<Short text={tag} />} />
      ))}
      {tags.length > MAX_TAGS && <Tag title={tags.join(', ')} label={`+${tags.length - MAX_TAGS}`} />}
    </>
  )
}

const DAY_MS = 24 * 60 * 60_000
const RETENTION_MS = DISCARDED_RETENTION_DAYS * DAY_MS

export interface TimeLeft {
  readonly days: number
  readonly hours: number
  readonly minutes: number
}

/** The time until a record discarded at that time deletes itself. */
function getTimeLeft(discardedAt: number, now: number): TimeLeft {
  const minutes = Math.max(0, Math.ceil((discardedAt + RETENTION_MS - now) / 60_000))
  return { days: Math.floor(minutes / 1_440), hours: Math.floor(minutes / 60) % 24, minutes: minutes % 60 }
}

/** `6 d 23 h`, `23 h 5 min`, `5 min`. */
function timeLeftText({ days, hours, minutes }: TimeLeft): string {
  if (days > 0) return t('left.days', { d: days, h: hours })
  return hours > 0 ? t('left.hours', { h: hours, m: minutes }) : t('left.minutes', { m: minutes })
}

/** Returns the days left, today included, to object to the registration of a record; undefined if there are none. */
export function objectionDays({ status, object_until: end }: DomainRecord): number | undefined {
  // A change that has just come from someone else may have freed the name.
  if (status === 0 || typeof end !== 'string') return undefined
  const days = Math.ceil((toEpoch(end) - serverNow()) / DAY_MS)
  return days > 0 ? days : undefined
}

/** Returns the remaining time of discarded records, which follows the clock; undefined for others. */
export function useTimeLeft(): (record: DomainRecord | undefined) => TimeLeft | undefined {
  const own = useStore(patches)
  useSyncExternalStore(eachMinute, minuteNow)
  return (record) => {
    if (record?.discarded !== 1) return undefined
    // A change that has just come from someone else lacks the time: it is the last one.
    const at = own.get(record.name)?.discardedAt ?? toEpoch(record.discarded_at ?? record.date_mod)
    return getTimeLeft(at, serverNow())
  }
}

const minuteNow = (): number => Math.floor(Date.now() / 60_000)

function eachMinute(listener: () => void): () => void {
  const timer = setInterval(listener, 60_000)
  return () => clearInterval(timer)
}
