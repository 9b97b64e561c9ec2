import { ApiError, streamApi } from '../../api/client.ts'
import { onKeyRemoved } from '../../api/session.ts'
import { removeTask, updateTask } from '../work/background-tasks.ts'
import { showToast, showError } from '../../design/toasts.tsx'
import { t, tn } from '../../i18n/index.ts'
import type { Filters } from '../filters/filters.ts'

/** Interval of progress updates. */
const SHOW_EVERY_MS = 250
/** Each holds a connection to the service and its file in memory. */
const MAX_RUNNING = 2

/** What the group decided and wrote, besides the fields that every export has. */
const FIELDS = 'seen,seen_by,seen_at,note,tags'

const running = new Set<AbortController>()
let lastId = 0

// After a sign-out, the next user must not get the file.
onKeyRemoved('domainwatch', () => {
  for (const stop of running) stop.abort()
})

/**
 * Saves every record of a view as a file in the background, with progress in the bar.
 * @param total records of the view, if they have been counted
 */
export function exportView(filters: Filters, format: 'csv' | 'ndjson', total: number | undefined): void {
  if (running.size >= MAX_RUNNING) {
    showToast(t('domains.exportsFull', { n: MAX_RUNNING }), { isError: true })
    return
  }
  const stop = new AbortController()
  const id = `export-${++lastId}`
  running.add(stop)
  const show = (lines: number) =>
    updateTask({
      id,
      label: tn('domains.exporting', lines),
      progress: total === undefined || total === 0 ? undefined : Math.min(1, lines / total),
      state: 'running',
      to: 'dominios',
      stop: () => stop.abort(),
    })
  show(0)
  saveExport(filters, format, show, stop.signal)
    .then(
      (lines) => showToast(tn('domains.exported', lines)),
      // The response that says that the key was revoked also stops it.
      (error) =>
        stop.signal.aborted && !(error instanceof ApiError)
          ? showToast(t('domains.exportStopped'))
          : showError(error),
    )
    .finally(() => {
      running.delete(stop)
      removeTask(id)
    })
    .catch(() => undefined)
}

/** Saves a complete file or none. */
async function saveExport(
  filters: Filters,
  format: 'csv' | 'ndjson',
  show: (lines: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const response = await streamApi(
    '/api/v1/domainwatch/export',
    { ...filters, format, fields: FIELDS },
    signal,
  )
  // The first line of a CSV file names the columns.
  let lines = format === 'csv' ? -1 : 0
  let shownAt = performance.now()
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
      controller.enqueue(chunk)
      if (performance.now() - shownAt < SHOW_EVERY_MS) return
      shownAt = performance.now()
      show(Math.max(0, lines))
    },
  })
  const type = response.headers.get('content-type') ?? ''
  const blob = await new Response(response.body?.pipeThrough(counted), {
    headers: { 'content-type': type },
  }).blob()
  saveFile(blob, `dominios.${format}`)
  return Math.max(0, lines)
}

function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
