import {
  anyMatches,
  type Columns,
  type Marks,
  type Order,
  type SegmentPart,
} from '../../lib/name-index/index.ts'
import { taskModule, BACKGROUND_TASK_TIMEOUT_MS, type Tasks } from '../../lib/tasks.ts'
import { type Input, type Output, deltaOfChanges, type Delta } from '../tasks/build-columns.ts'
import type { RuleSet } from '../rules/index.ts'
import type { Dictionary } from '../words.ts'
import type { Database } from '../../storage/database/database.ts'
import { recordsAsText } from '../queries-records.ts'
import { toQueries } from './search.ts'

const BUILD_COLUMNS = taskModule('../tasks/build-columns', import.meta)

/** This many changes are parsed on the event loop, in some milliseconds; more are parsed in another thread. */
const SMALL_DELTA = 300

/** This many records are compared with the rules on the event loop. */
const SMALL_SEGMENT = 1_000

/** Records read at a time: some 20 ms on the shared connection, and 2 MB of text. More would take hundreds of megabytes meanwhile. */
const CHUNK = 16_384

/** Reads all records while `isWanted`, as texts of `recordsAsText`. */
export async function* readAllRecords(database: Database, isWanted: () => boolean): AsyncGenerator<string> {
  for (let after = ''; isWanted();) {
    const chunk = await database.scanner.first(recordsAsText(database.dialect, after, CHUNK))
    if (chunk === undefined || chunk.last === null || chunk.text === null) return
    yield chunk.text
    if (chunk.count < CHUNK) return
    after = chunk.last
  }
}

/** Builds columns in another thread. */
export class IndexBuilder {
  readonly #tasks: Tasks
  readonly #dictionary: Dictionary

  constructor(tasks: Tasks, dictionary: Dictionary) {
    this.#tasks = tasks
    this.#dictionary = dictionary
  }

  records(text: string): Promise<Output['records']> {
    return this.#build({ kind: 'records', text, words: this.#dictionary.trie })
  }

  async changes(text: string, count: number, overlapping: boolean): Promise<Delta> {
    const { split, trie } = this.#dictionary
    if (count <= SMALL_DELTA) return deltaOfChanges(text, overlapping, split)
    return this.#build({ kind: 'changes', text, overlapping, words: trie })
  }

  merged(parts: readonly SegmentPart[], order: Order): Promise<Columns> {
    return this.#build({ kind: 'merge', parts, order })
  }

  /** Returns which records the rules hide. */
  async marks(columns: Columns, { version, hiding }: RuleSet): Promise<Marks> {
    if (hiding.length === 0) return { version, bits: new Uint32Array(0) }
    const isSmall = columns.count <= SMALL_SEGMENT
    const bits = isSmall
      ? anyMatches(columns, toQueries(hiding))
      : await this.#build({ kind: 'hidden', columns, hiding })
    return { version, bits }
  }

  #build<Kind extends keyof Output>(input: Input & { readonly kind: Kind }): Promise<Output[Kind]> {
    // Callers that wait for changes have a shorter timeout of their own.
    return this.#tasks.run<Input, Output[Kind]>(BUILD_COLUMNS, input, {
      timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
    })
  }
}
