/** Marks in the order of an answer: status, reserved, revision, discarded, from the lowest bit on. */
const MARKS = ['status', 'reserved', 'revision', 'discarded'] as const
/** Texts kept; one more than that, and they are made anew as they are asked for. Some 200 bytes each. */
const MAX_KEPT = 4_096

/** From one record's `date_reg` on, which the next record's name follows. */
export const DATES = 'YYYY-MM-DD HH:MM:SS","date_mod":"YYYY-MM-DD HH:MM:SS"},{"name":"'

/**
 * What stands in the JSON of a record behind its name, up to the next one's, with room for its dates: records of the same
 * length, agent and marks have the same, and most of a page are of few kinds.
 */
export class RecordTexts {
  readonly #agents: readonly string[]
  readonly #kept = new Map<number, Uint8Array>()

  constructor(agents: readonly string[]) {
    this.#agents = agents
  }

  of(length: number, agent: number, marks: number): Uint8Array {
    const kind = (agent * 64 + length) * 16 + marks
    const kept = this.#kept.get(kind)
    if (kept !== undefined) return kept
    const flags = MARKS.map((name, bit) => `"${name}":${(marks >>> bit) & 1}`).join(',')
    const quoted = JSON.stringify(this.#agents[agent] ?? '')
    const text = Buffer.from(`","length":${length},"agent":${quoted},${flags},"date_reg":"${DATES}`)
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(kind, text)
    return text
  }
}
