import { createStore } from '../../base/store.ts'
import { guardWork } from '../../base/unsaved-work.ts'

/** A task that continues on every screen. */
export interface Task {
  readonly id: string
  readonly label: string
  /** 0 to 1; undefined if unknown. */
  readonly progress: number | undefined
  /** The screen that shows it. */
  readonly to: string
  /** The service continues it without this page. */
  readonly isHandedOver?: boolean
  /** Stops it, if the bar may do so. */
  readonly stop?: () => void
}

/** Tasks in the bar, in the order they were started. */
export const tasks = createStore<readonly Task[]>([])

export function updateTask(task: Task): void {
  const isKnown = tasks.get().some(({ id }) => id === task.id)
  tasks.set(isKnown ? tasks.get().map((one) => (one.id === task.id ? task : one)) : [...tasks.get(), task])
}

export function removeTask(id: string): void {
  if (tasks.get().some((one) => one.id === id)) tasks.set(tasks.get().filter((one) => one.id !== id))
}

guardWork(() => tasks.get().some(({ isHandedOver = false }) => !isHandedOver))
