import { callApi } from '../../api/client.ts'
import { withRetries } from '../../api/retry.ts'
import { usePermissions } from '../../api/scope.ts'
import { isReadable, uploadForm } from '../../api/upload.ts'
import { removeTask, updateTask } from '../work/background-tasks.ts'
import { errorMessage } from '../../api/error-message.ts'
import { createStore, useStore } from '../../base/store.ts'
import { t, tn, bytes, count } from '../../i18n/index.ts'
import { type ReactNode, useEffect, useState } from 'react'
import { useRoute, withParameters } from '../../base/router.ts'
import { Button, Icon, Link, Tag } from '../../design/elements.tsx'
import '../../i18n/texts/images.ts'

export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending'; readonly progress: number }
  /** It is repeated when the connection is back, or the service has room. */
  | { readonly kind: 'held' }
  /** The upload is complete and the service decodes it. */
  | { readonly kind: 'checking' }
  /** `similar`: number of similar images of the application. */
  | { readonly kind: 'done'; readonly hash: string; readonly similar: number }
  | { readonly kind: 'failed'; readonly message: string }

export interface Upload {
  readonly id: number
  readonly name: string
  readonly size: number
  readonly state: UploadState
}

interface QueuedUpload {
  readonly id: number
  readonly file: File
}

/** Concurrent uploads: the service decodes one per core, and more would only wait there. */
const AT_ONCE = 3
/** An upload with a ticket does not count them: bits of the dhash that differ, and the most that are counted. */
const SIMILAR = { distance: 4, limit: 100 }
/** Seconds. It has to last until the upload begins. */
const TICKET_SECONDS = 3_600

const uploads = createStore<readonly Upload[]>([])
const queue: QueuedUpload[] = []
const running = new Set<QueuedUpload>()
/** Files that were not stored, for a retry. */
const failed = new Map<number, File>()
const TASK = 'uploads'
/** Ends the repetition of uploads. */
let stop = new AbortController()
let lastId = 0
let whenDone: () => void = () => undefined

/** Called when nothing more is to be uploaded: images must not move in the gallery with each one that is stored. */
export function onUploaded(listener: () => void): void {
  whenDone = listener
}

export function addUploads(files: Iterable<File>): void {
  const added = [...files].map((file) => ({ id: ++lastId, file }))
  queue.push(...added)
  uploads.set([
    ...uploads.get(),
    ...added.map(({ id, file }) => ({
      id,
      name: file.name,
      size: file.size,
      state: { kind: 'waiting' } as const,
    })),
  ])
  startNext()
}

function retryUploads(): void {
  for (const [id, file] of failed) {
    queue.push({ id, file })
    show(id, { kind: 'waiting' })
  }
  failed.clear()
  startNext()
}

/** Ends the uploads that are not stored yet. They can be retried. */
function stopUploads(): void {
  stop.abort()
  stop = new AbortController()
  for (const { id, file } of [...running, ...queue.splice(0)]) {
    failed.set(id, file)
    show(id, { kind: 'failed', message: t('images.stopped') })
  }
}

function clearUploads(): void {
  failed.clear()
  uploads.set(uploads.get().filter(({ state }) => state.kind !== 'done' && state.kind !== 'failed'))
}

function startNext(): void {
  while (running.size < AT_ONCE) {
    const next = queue.shift()
    if (next === undefined) return
    running.add(next)
    const { signal } = stop
    // The same bytes are stored once, so an upload whose response was lost is repeated.
    withRetries(
      () => send(next.file, (state) => show(next.id, state), signal),
      signal,
      () => show(next.id, { kind: 'held' }),
    )
      .then((stored) => {
        show(next.id, { kind: 'done', ...stored })
      })
      .catch((error: unknown) => {
        if (signal.aborted) return
        failed.set(next.id, next.file)
        show(next.id, { kind: 'failed', message: errorMessage(error) })
      })
      .finally(() => {
        running.delete(next)
        startNext()
        if (running.size === 0) whenDone()
      })
      .catch(() => undefined)
  }
}

function show(id: number, state: UploadState): void {
  uploads.set(uploads.get().map((one) => (one.id === id ? { ...one, state } : one)))
}

// Uploads continue on other screens.
uploads.subscribe(() => {
  const all = uploads.get()
  const open = all.filter(({ state }) => state.kind !== 'done' && state.kind !== 'failed').length
  if (open === 0) removeTask(TASK)
  else {
    const progress = 1 - open / all.length
    const label = tn('images.uploading', open)
    updateTask({ id: TASK, label, progress, to: 'imagenes', stop: stopUploads })
  }
})

interface Stored {
  readonly hash: string
  readonly similar: number
}

async function send(file: File, tell: (state: UploadState) => void, signal: AbortSignal): Promise<Stored> {
  if (!(await isReadable(file))) throw new Error(t('images.unreadable'))
  signal.throwIfAborted()
  // With a ticket the service records the address of the uploader, which the page does not know.
  const { data: ticket } = await callApi('POST /api/v1/imagestore/tickets', {
    body: { expires: TICKET_SECONDS },
    signal,
  })
  const body = new FormData()
  body.append('image', file)
  const onProgress = (progress: number) =>
    tell(progress === 1 ? { kind: 'checking' } : { kind: 'sending', progress })
  const stored = await uploadForm(`/u/${ticket.ticket}`, body, { signal, onProgress })
  const hash = String(stored['hash'])
  return { hash, similar: await countSimilar(hash) }
}

/** Returns the number of other images that look alike; 0 if it is not known, because the image is stored in any case. */
async function countSimilar(hash: string): Promise<number> {
  const query = { hash, ...SIMILAR }
  return callApi('GET /api/v1/imagestore/similar', { query }).then(
    // The image itself is among them.
    ({ data }) => data.count - 1,
    () => 0,
  )
}

/** Maximum rows shown; files with problems come first. */
const MAX_SHOWN = 100
const RANKS = { failed: 0, sending: 1, held: 1, checking: 1, done: 2, waiting: 3 } as const

export function UploadList() {
  const all = useStore(uploads)
  if (all.length === 0) return null
  const done = all.filter(({ state }) => state.kind === 'done').length
  const failed = all.filter(({ state }) => state.kind === 'failed').length
  const shown = all.length <= MAX_SHOWN ? all : all.toSorted(byInterest).slice(0, MAX_SHOWN)
  const isResting = done + failed === all.length
  return (
    <section className="uploads" aria-label={t('images.uploads')}>
      <div className="row">
        <h2 className="grow" role="status">
          {tn('images.uploadsDone', done)}
          {failed > 0 && <span className="fault-text"> · {tn('images.uploadsFailed', failed)}</span>}
        </h2>
        {failed > 0 && <Button label={t('app.retry')} onClick={retryUploads} />}
        <Button look="quiet" label={t('images.clear')} disabled={!isResting} onClick={clearUploads} />
      </div>
      <ul>
        {shown.map((upload) => (
          <li key={upload.id} className="upload">
            <span className="ellipsis">{upload.name}</span>
            <span className="muted figures">{bytes(upload.size)}</span>
            <Progress upload={upload} />
          </li>
        ))}
      </ul>
      {shown.length < all.length && (
        <p className="muted figures">{t('domains.andMore', { n: count(all.length - shown.length) })}</p>
      )}
    </section>
  )
}

const byInterest = (a: Upload, b: Upload) => RANKS[a.state.kind] - RANKS[b.state.kind]

function Progress({ upload: { name, state } }: { upload: Upload }) {
  switch (state.kind) {
    case 'waiting':
      return <span className="muted">{t('images.waiting')}</span>
    case 'sending':
      return <progress max={1} value={state.progress} aria-label={name} />
    case 'held':
    case 'checking':
      return (
        <span className="row muted">
          <span className="spinner" />
          {t(`images.${state.kind}`)}
        </span>
      )
    case 'done':
      return (
        <span className="row">
          <Tag icon="check" look="free" label={t('images.uploaded')} />
          {state.similar > 0 && <Resembling hash={state.hash} others={state.similar} />}
        </span>
      )
    case 'failed':
      return <Tag icon="alert" look="danger" label={state.message} />
  }
}

function Resembling({ hash, others }: { hash: string; others: number }) {
  const { query } = useRoute()
  return (
    <Link to="imagenes" query={withParameters(query, { imagen: hash })}>
      {tn('images.resembling', others)}
    </Link>
  )
}

/** Takes files that are dropped or pasted anywhere on the page. */
export function DropZone({ children }: { children: ReactNode }) {
  const [isOver, setOver] = useState(false)
  const isLocked = !usePermissions()('changeImages')
  useEffect(() => {
    if (isLocked) return undefined
    // Text can be dropped into fields.
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(false)
      addUploads(event.dataTransfer?.files ?? [])
    }
    const paste = (event: ClipboardEvent) => {
      const files = event.clipboardData?.files
      if (files === undefined || files.length === 0) return
      event.preventDefault()
      addUploads(files)
    }
    const left = new AbortController()
    const { signal } = left
    addEventListener('dragover', over, { signal })
    addEventListener('dragleave', leave, { signal })
    addEventListener('drop', drop, { signal })
    addEventListener('paste', paste, { signal })
    return () => left.abort()
  }, [isLocked])
  return (
    <div className="images">
      {children}
      {isOver && (
        <div className="drop-veil">
          <Icon name="upload" />
          {t('images.drop')}
        </div>
      )}
    </div>
  )
}
