import { Unfit, type Draft } from './draft.ts'
import { MOMENT_LENGTH, momentOf } from './moment.ts'

const TAB = '\t'
const END_OF_LINE = '\n'
const MARKS = 3

/**
 * Reads the lines of `recordsAsText`: name, tab, status, reserved and revision (a digit each), date_reg, date_mod,
 * deleted_at where there is one, tab, discarded_at where there is one, tab, the agent in JSON.
 * @throws Unfit
 */
export function readRows(text: string, draft: Draft): void {
  const agents = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const nameEnd = until(text, TAB, at)
    const marks = nameEnd + 1
    const registered = marks + MARKS
    const modified = registered + MOMENT_LENGTH
    const deleted = modified + MOMENT_LENGTH
    const deletedEnd = until(text, TAB, deleted)
    const discardedEnd = until(text, TAB, deletedEnd + 1)
    const lineEnd = until(text, END_OF_LINE, discardedEnd)
    const quoted = text.slice(discardedEnd + 1, lineEnd)
    let agent = agents.get(quoted)
    if (agent === undefined) {
      agent = String(JSON.parse(quoted))
      agents.set(quoted, agent)
    }
    if (deletedEnd !== deleted && deletedEnd !== deleted + MOMENT_LENGTH)
      throw new Unfit('a date that is none')
    draft.add({
      name: text.slice(at, nameEnd),
      agent,
      status: bit(text, marks),
      reserved: bit(text, marks + 1),
      revision: bit(text, marks + 2),
      discardedAt: discardedEnd === deletedEnd + 1 ? NaN : Number(text.slice(deletedEnd + 1, discardedEnd)),
      registered: momentOf(text, registered),
      modified: momentOf(text, modified),
      deleted: deletedEnd === deleted ? NaN : momentOf(text, deleted),
    })
    at = lineEnd + 1
  }
}

function until(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from)
  if (at < 0) throw new Unfit('a line that is none')
  return at
}

function bit(text: string, at: number): number {
  const code = text.charCodeAt(at) - 0x30
  if (code !== 0 && code !== 1) throw new Unfit('a mark that is neither 0 nor 1')
  return code
}
