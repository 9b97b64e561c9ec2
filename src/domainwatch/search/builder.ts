import { taskModule, BACKGROUND_TASK_TIMEOUT_MS, type Tasks } from '../../lib/tasks.ts'
import type { Input, Output } from '../tasks/build-columns.ts'
import type { Columns } from './columns.ts'
import { Unfit } from './draft.ts'
import type { MergePart } from './merge.ts'
import type { Order } from './order.ts'
import { readChanges, type Delta } from './read-changes.ts'

const BUILD_COLUMNS = taskModule('../tasks/build-columns', import.meta)

/** Up to so many changes are prepared at once, in some milliseconds; more are in another thread. */
const SMALL_DELTA = 300

/** Makes columns of texts from the database, and of other columns, in another thread. Each throws `Unfit`. */
export class Builder {
  readonly #tasks: Tasks

  constructor(tasks: Tasks) {
    this.#tasks = tasks
  }

  async rows(text: string, count: number): Promise<Readonly<Record<Order, Columns>>> {
    const built = await this.#build({ kind: 'rows', text, count })
    return built.kind === 'rows' ? built.columns : somethingElse()
  }

  async changes(texts: readonly string[], count: number, overlapping: boolean): Promise<Delta> {
    if (count <= SMALL_DELTA) return readChanges(texts, overlapping)
    const built = await this.#build({ kind: 'changes', texts, overlapping })
    return built.kind === 'changes' ? built.delta : somethingElse()
  }

  async merged(parts: readonly MergePart[], order: Order): Promise<Columns> {
    const built = await this.#build({ kind: 'merge', parts, order })
    return built.kind === 'merge' ? built.columns : somethingElse()
  }

  async #build(input: Input): Promise<Output> {
    // Whoever waits for changes to be applied has a time-out of his own.
    const output = await this.#tasks.run<Input, Output>(BUILD_COLUMNS, input, {
      timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
    })
    if (output.kind === 'unfit') throw new Unfit(output.reason)
    return output
  }
}

function somethingElse(): never {
  throw new Error('built something else')
}
