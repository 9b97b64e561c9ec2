import { queryClient } from '../../api/query-client.ts'
import { accountOf, onNextUser } from '../../api/scope.ts'
import { keyFor, session } from '../../api/session.ts'
import { removeTask, updateTask } from '../work/background-tasks.ts'
import { errorMessage } from '../../api/error-message.ts'
import { OtherTabs } from '../work/other-tabs.ts'
import { createStore } from '../../base/store.ts'
import { showToast } from '../../design/toasts.tsx'
import { t, tn } from '../../i18n/index.ts'
import { readList, type ReadList } from './read-list.ts'
import type { DayOrder } from './dates.ts'
import { saveFile, type FileId, deleteUnfinished, saveUnfinished, loadUnfinished } from './unfinished.ts'
import { recordPastImport } from './past-imports.tsx'
import { NO_REPAIRS, storeList, type Progress } from './store-list.ts'

/** A list and the progress of storing it, which continues on other screens. */
export interface Import {
  /** Distinguishes files with the same name. */
  readonly id: number
  readonly file: File
  readonly list: ReadList
  /** The order of dates that the person chose. */
  readonly order: DayOrder | undefined
  readonly state: 'read' | 'running' | 'waiting' | 'stopped' | 'done'
  readonly progress: Progress
  /** Why it stopped, unless the user stopped it. */
  readonly fault: string | undefined
}

export const currentImport = createStore<Import | undefined>(undefined)
/** Progress of reading the file, from 0 to 1. */
export const readProgress = createStore<number | undefined>(undefined)

const TASK = 'import'
let lastId = 0
let stop = new AbortController()
let startedAt = 0

interface RunningImport extends FileId {
  readonly since: number
}

const tabs = new OtherTabs<RunningImport>('import')
/** The imports that run in other tabs of this account; undefined until those have answered. */
export const importsElsewhere = tabs.states

export const isStoring = (): boolean => ['running', 'waiting'].includes(currentImport.get()?.state ?? '')

/** @throws UnreadableFile if it is not a list */
export async function loadFile(file: File, order?: DayOrder): Promise<void> {
  const id = ++lastId
  readProgress.set(0)
  try {
    const list = await readList(file, {
      order,
      onProgress: (part) => id === lastId && readProgress.set(part),
    })
    // Another file was chosen in the meantime.
    if (id !== lastId || isStoring()) return
    currentImport.set({ id, file, list, order, state: 'read', progress: NO_REPAIRS, fault: undefined })
  } finally {
    if (id === lastId) readProgress.set(undefined)
  }
}

/** Discards the list; stored records stay. */
export function closeImport(): void {
  stop.abort()
  removeTask(TASK)
  currentImport.set(undefined)
}

export function stopImport(): void {
  stop.abort()
}

/** How far an earlier visit of the page came with this very file; undefined if it left none. */
export function resumePoint({ file, list }: Import): Progress | undefined {
  const account = accountOf('domainwatch')
  const left = account === undefined ? undefined : loadUnfinished(account, file)
  if (left?.rows !== list.rows.length || left.done === 0) return undefined
  return { done: left.done, stored: left.stored, refused: [], refusedCount: left.refused }
}

/** Reads a file that was kept, and stores what is left of it. @throws UnreadableFile */
export async function resumeImport(file: File, order: DayOrder | undefined): Promise<void> {
  await loadFile(file, order)
  const loaded = currentImport.get()
  if (loaded?.file === file) await storeImport(resumePoint(loaded))
}

/** Stores the list, from where it stopped or an earlier visit did. */
export async function storeImport(from?: Progress): Promise<void> {
  const given = currentImport.get()
  if (given === undefined || isStoring() || runsElsewhere(given.file)) return
  const { file, list, order } = given
  startedAt = Date.now()
  const account = accountOf('domainwatch')
  const key = keyFor('domainwatch')
  if (account !== undefined) void saveFile(account, file)
  const started = from ?? given.progress
  stop = new AbortController()
  const { signal } = stop
  const whatIs = { name: file.name, size: file.size, rows: list.rows.length, order }
  const show = (progress: Progress, state: Import['state'], fault?: string) => {
    if (currentImport.get()?.id !== given.id) return
    currentImport.set({ ...given, progress, state, fault })
    if (state === 'done') removeTask(TASK)
    else {
      updateTask({
        id: TASK,
        label: t('import.task', { name: file.name }),
        progress: progress.done / list.rows.length,
        state: state === 'running' || state === 'waiting' ? state : 'stopped',
        to: 'importar',
      })
    }
    if (account === undefined) return
    if (state === 'done') void deleteUnfinished(account, file)
    else saveUnfinished(account, { ...whatIs, ...partOf(progress) })
  }
  const note = (isComplete: boolean) =>
    recordPastImport(account, {
      name: file.name,
      rows: list.rows.length,
      stored: last.stored,
      refused: last.refusedCount,
      isComplete,
    })
  let last = started
  show(last, 'running')
  tabs.announce({ name: file.name, size: file.size, since: startedAt })
  try {
    last = await storeList(
      list,
      started,
      (progress, state) => {
        last = progress
        show(progress, state)
      },
      { key, signal },
    )
    show(last, 'done')
    note(true)
    showToast(tn('import.finished', last.stored))
  } catch (error) {
    note(false)
    show(last, 'stopped', signal.aborted ? undefined : errorMessage(error))
  } finally {
    tabs.announce(undefined)
  }
  // Records stored before it ended are visible.
  await queryClient.invalidateQueries({ queryKey: ['domains'] })
}

const isFile =
  (file: FileId) =>
  ({ name, size }: FileId): boolean =>
    name === file.name && size === file.size

/** Whether another tab stores this very list. */
export const runsElsewhere = (file: FileId): boolean => importsElsewhere.get()?.some(isFile(file)) === true

// Another tab resumes what this one stopped, or began before this one had heard of that.
importsElsewhere.subscribe(() => {
  const own = currentImport.get()
  const other = own && importsElsewhere.get()?.find(isFile(own.file))
  if (other === undefined || own === undefined) return
  if (own.state === 'stopped' || (isStoring() && other.since < startedAt)) closeImport()
})

const partOf = ({ done, stored, refusedCount }: Progress) => ({ done, stored, refused: refusedCount })

session.subscribe(() => {
  if (session.get().domainwatch === undefined) stopImport()
})
onNextUser('domainwatch', closeImport)
