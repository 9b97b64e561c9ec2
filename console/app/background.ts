import { createStore } from './store.ts'

/** Work that goes on whichever screen is shown. */
export interface Task {
  readonly id: string
  readonly label: string
  /** 0 to 1; undefined where nobody can tell. */
  readonly part: number | undefined
  /** `waiting` continues without help, `stopped` needs somebody. */
  readonly state: 'running' | 'waiting' | 'stopped'
  /** The screen that shows it. */
  readonly to: string
  /** Ends it, if the bar may. */
  readonly stop?: () => void
}

/** Shown in the bar, in the order in which they began. */
export const tasks = createStore<readonly Task[]>([])

export function showTask(task: Task): void {
  const isKnown = tasks.get().some(({ id }) => id === task.id)
  tasks.set(isKnown ? tasks.get().map((one) => (one.id === task.id ? task : one)) : [...tasks.get(), task])
}

export function dropTask(id: string): void {
  if (tasks.get().some((one) => one.id === id)) tasks.set(tasks.get().filter((one) => one.id !== id))
}

/** Whether leaving the page would lose work. */
export const isBusy = (): boolean => tasks.get().some(({ state }) => state !== 'stopped')

/** The browser asks before the page is left. Listening only then keeps the page in its back/forward cache otherwise. */
const ask = (event: BeforeUnloadEvent) => event.preventDefault()

tasks.subscribe(() => {
  if (isBusy()) addEventListener('beforeunload', ask)
  else removeEventListener('beforeunload', ask)
})
