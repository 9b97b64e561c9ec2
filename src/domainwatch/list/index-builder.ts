import type { Columns, Order, SegmentPart } from '../../lib/name-index/index.ts'
import { UnsupportedValueError } from '../../lib/name-index/index.ts'
import { taskModule, BACKGROUND_TASK_TIMEOUT_MS, type Tasks } from '../../lib/tasks.ts'
import type { Input, Output } from '../tasks/build-columns.ts'
import type { Dictionary } from '../words/dictionary.ts'
import { deltaOfChanges, type Delta } from './load-records.ts'

const BUILD_COLUMNS = taskModule('../tasks/build-columns', import.meta)

/** This many changes are parsed on the event loop, in some milliseconds; more are parsed in another thread. */
const SMALL_DELTA = 300

/** Builds columns in another thread. Its methods throw `UnsupportedValueError`. */
export class IndexBuilder {
  readonly #tasks: Tasks
  readonly #dictionary: Dictionary

  constructor(tasks: Tasks, dictionary: Dictionary) {
    this.#tasks = tasks
    this.#dictionary = dictionary
  }

  async records(text: string, count: number): Promise<Readonly<Record<Order, Columns>>> {
    const built = await this.#build({ kind: 'records', text, count, words: this.#dictionary.trie })
    return built.kind === 'records' ? built.columns : unexpected()
  }

  async changes(texts: readonly string[], count: number, overlapping: boolean): Promise<Delta> {
    if (count <= SMALL_DELTA) return deltaOfChanges(texts, overlapping, this.#dictionary.split)
    const built = await this.#build({
      kind: 'changes',
      texts,
      overlapping,
      words: this.#dictionary.trie,
    })
    return built.kind === 'changes' ? built.delta : unexpected()
  }

  async merged(parts: readonly SegmentPart[], order: Order): Promise<Columns> {
    const built = await this.#build({ kind: 'merge', parts, order })
    return built.kind === 'merge' ? built.columns : unexpected()
  }

  async #build(input: Input): Promise<Output> {
    // Callers that wait for changes have a shorter timeout of their own.
    const output = await this.#tasks.run<Input, Output>(BUILD_COLUMNS, input, {
      timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
    })
    if (output.kind === 'unsupported') throw new UnsupportedValueError(output.reason)
    return output
  }
}

function unexpected(): never {
  throw new Error('the task built something else')
}
