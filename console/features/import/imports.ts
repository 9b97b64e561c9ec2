import { queryClient } from '../../api/query-client.ts'
import type { Operations } from '../../../clients/js/schema.ts'
import { isReadable, uploadForm } from '../../api/upload.ts'
import { createStore } from '../../base/store.ts'
import { showToast } from '../../design/toasts.tsx'
import { t, tn, type TextKey } from '../../i18n/index.ts'
import '../../i18n/texts/importing.ts'
import { removeTask, updateTask } from '../work/background-tasks.ts'
import { followJob, IMPORTS, isFollowed, requestOnce, type ImportJob } from '../work/jobs.ts'

type Fields = Operations['POST /api/v1/domainwatch/import']['body']
export type Format = NonNullable<Fields['format']>
export type Window = NonNullable<Fields['window']>

/** Formats that the service takes: a missing one does not compile. */
export const FORMATS: Readonly<Record<Format, TextKey>> = {
  registrations: 'import.registrations',
  deletions: 'import.deletions',
  csv: 'import.csv',
  ndjson: 'import.ndjson',
  numbers: 'import.numbers',
}

/** A list that was chosen, and how to read it. */
export interface ChosenList {
  readonly file: File
  /** Undefined to let the service find out. */
  readonly format: Format | undefined
  readonly window: Window
  /** Empty for the format and the window. */
  readonly source: string
  /** The job that counted what it would change. */
  readonly previewId: string | undefined
  /** Share of it that is sent; undefined while it is not being sent. */
  readonly sent: number | undefined
}

const PATH = '/api/v1/domainwatch/import'
const TASK = 'import'

export const chosenList = createStore<ChosenList | undefined>(undefined)

let sending = new AbortController()

export const chooseList = (file: File): void =>
  chosenList.set({
    file,
    format: undefined,
    window: 'month',
    source: '',
    previewId: undefined,
    sent: undefined,
  })

export function changeChoice(changes: Partial<ChosenList>): void {
  const list = chosenList.get()
  if (list !== undefined) chosenList.set({ ...list, ...changes })
}

/** Stops the upload, and forgets the list. */
export function dropChoice(): void {
  sending.abort()
  removeTask(TASK)
  chosenList.set(undefined)
}

/** Sends the chosen list. The service does the rest, whether or not this page is open. @throws why it was not accepted */
export async function sendList(isDry: boolean): Promise<void> {
  const list = chosenList.get()
  if (list === undefined || list.sent !== undefined) return
  const { file, format, window, source } = list
  sending = new AbortController()
  const { signal } = sending
  const label = t('import.sending', { name: file.name })
  const show = (sent: number) => {
    if (signal.aborted) return
    changeChoice({ sent })
    updateTask({ id: TASK, label, progress: sent, to: 'importar', stop: dropChoice })
  }
  const isIt = ({ name, state, dry_run: dry }: ImportJob) =>
    name === file.name && dry === Number(isDry) && state !== 'failed' && state !== 'receiving'
  const request = async () => {
    if (!(await isReadable(file))) throw new Error(t('import.unreadable'))
    const body = new FormData()
    body.append('file', file)
    const query = {
      format,
      window,
      source: source.trim() === '' ? undefined : source.trim(),
      dry_run: isDry ? 1 : undefined,
    }
    const { id } = await uploadForm(PATH, body, { query, signal, onProgress: show })
    return String(id)
  }
  show(0)
  try {
    const id = await requestOnce(IMPORTS, request, isIt, () => show(0), signal)
    void followImport(id)
    if (isDry) changeChoice({ previewId: id })
    else chosenList.set(undefined)
    await queryClient.invalidateQueries({ queryKey: ['imports'] })
  } finally {
    removeTask(TASK)
    changeChoice({ sent: undefined })
  }
}

/** Follows imports of the account, as after a reload. */
export function resumeImports(jobs: readonly ImportJob[]): void {
  for (const { id } of jobs) void followImport(id)
}

/** Shows an import in the bar until it ends, and how it did. */
async function followImport(id: string): Promise<void> {
  // One that is being sent is also among the open jobs of the account.
  if (isFollowed(id)) return
  try {
    const job = await followJob(IMPORTS, id, ({ name, percent, dry_run: isDry }) => {
      const text = isDry === 1 ? 'import.comparing' : 'import.task'
      return { label: t(text, { name: name ?? t('import.list') }), progress: percent / 100 }
    })
    if (job.dry_run === 0) {
      showToast(outcomeText(job), { isError: job.state === 'failed' })
      await queryClient.invalidateQueries({ queryKey: ['domains'] })
    }
    await queryClient.invalidateQueries({ queryKey: ['imports'] })
  } catch {
    // It is followed again after a reload.
  }
}

function outcomeText({ name, state, new: added, changed, error }: ImportJob): string {
  const what = name ?? t('import.list')
  if (state === 'failed') return t('import.failedToast', { name: what, reason: error ?? '' })
  if (state === 'stopped') return t('import.stoppedToast', { name: what })
  return `${t('import.finished', { name: what })} ${tn('import.stored', added + changed)}`
}
