import type { Clock } from '../lib/clock.ts'
import type { Gate } from '../lib/gate.ts'
import type { Tasks } from '../lib/tasks.ts'
import type { Database } from '../storage/database/database.ts'
import type { Interest } from './interest/index.ts'
import type { NameIndex } from './list/name-index.ts'
import type { Rules } from './rules/index.ts'
import type { Dictionary } from './words.ts'

/** What domain tracking works with. Each service names the parts that it takes. */
export interface DomainContext {
  readonly database: Database
  readonly tasks: Tasks
  readonly clock: Clock
  /** Time zone of the dates of records. */
  readonly timeZone: string
  /** The words that names are split into. */
  readonly dictionary: Dictionary
  readonly rules: Rules
  /** The taste of the group. */
  readonly interest: Interest
  /** What answers lists, counts, exports and the queue. */
  readonly nameIndex: NameIndex
  /** Searches that take long take turns, on the event loop that they share. */
  readonly searches: Gate
}
