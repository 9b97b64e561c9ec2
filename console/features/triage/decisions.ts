import { operations, getState } from '../work/operations.ts'
import type { DomainRecord } from '../domains/records.ts'

const MAX_STEPS = 500

/** A decision that can be undone. */
export interface Step {
  readonly record: DomainRecord
  readonly operation: number
}

/** The decisions made in a triage queue, oldest first. */
export class Decisions {
  #steps: readonly Step[] = []
  /** Names decided here that the service's last count may include as undecided. */
  readonly #uncounted = new Set<string>()
  #handled = 0

  /** How many records were decided. */
  get handled(): number {
    return this.#handled
  }

  get uncounted(): ReadonlySet<string> {
    return this.#uncounted
  }

  /** The log of operations keeps only the newest. */
  get canUndo(): boolean {
    const step = this.#steps.at(-1)
    return step !== undefined && getState(step.operation) !== undefined
  }

  add(step: Step): void {
    this.#steps = [...this.#steps, step].slice(-MAX_STEPS)
    this.#handled++
    this.#uncounted.add(step.record.name)
  }

  /** Removes and returns the last decision, and whether the service had counted it as decided. */
  takeLast(): { readonly step: Step; readonly wasCounted: boolean } | undefined {
    const step = this.#steps.at(-1)
    if (step === undefined || !this.canUndo) return undefined
    this.#steps = this.#steps.slice(0, -1)
    this.#handled--
    return { step, wasCounted: !this.#uncounted.delete(step.record.name) }
  }

  /** Restores a decision that could not be undone, so that it can be undone again. */
  restore(step: Step): void {
    this.add(step)
    this.#steps = this.#steps.toSorted((one, other) => one.operation - other.operation)
  }

  /** Removes the decision on a record, which failed. */
  remove(name: string): void {
    const kept = this.#steps.filter(({ record }) => record.name !== name)
    this.#handled -= this.#steps.length - kept.length
    this.#steps = kept
    this.#uncounted.delete(name)
  }

  /** Adds names whose decisions were made elsewhere, cannot be undone here, and are not counted yet. */
  addUncounted(names: Iterable<string>): void {
    for (const name of names) this.#uncounted.add(name)
  }

  /** Forgets that names may not be counted: the service has counted them now. */
  markCounted(names: Iterable<string>): void {
    for (const name of names) this.#uncounted.delete(name)
  }
}

/** Whether an operation on the record is pending. */
export const isPending = (name: string): boolean =>
  operations.get().some(({ id, subjects }) => subjects.includes(`domain:${name}`) && isBusy(getState(id)))

const isBusy = (state: ReturnType<typeof getState>): boolean => state === 'waiting' || state === 'running'
