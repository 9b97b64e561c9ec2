import { addressOf, errorOf } from '../api/client.ts'
import { noteLost } from '../api/connection.ts'
import { keyFor, session } from '../api/session.ts'
import { dropTask, showTask } from '../app/background.ts'
import { faultText } from '../app/fault-text.ts'
import { createStore } from '../app/store.ts'
import { t, tn } from '../i18n/index.ts'
import '../i18n/texts/images.ts'

export type UploadState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending'; readonly part: number }
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

/** Concurrent uploads: the service decodes one per core, and more would only wait there. */
const AT_ONCE = 3
const TIMEOUT_MS = 125_000
/** The API requires the uploader's address, which the page does not know: the unspecified address. */
const NO_ADDRESS = '0.0.0.0'

export const uploads = createStore<readonly Upload[]>([])
const queue: { id: number; file: File }[] = []
/** Files that were not stored, for a retry. */
const failed = new Map<number, File>()
const TASK = 'uploads'
let running = 0
let lastId = 0
let whenDone: () => void = () => undefined

/** Called with each stored image. */
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

/** Retries failed uploads. */
export function retryUploads(): void {
  for (const [id, file] of failed) {
    queue.push({ id, file })
    show(id, { kind: 'waiting' })
  }
  failed.clear()
  startNext()
}

export function clearUploads(): void {
  failed.clear()
  uploads.set(uploads.get().filter(({ state }) => state.kind !== 'done' && state.kind !== 'failed'))
}

function startNext(): void {
  while (running < AT_ONCE) {
    const next = queue.shift()
    if (next === undefined) return
    running++
    send(next.file, (state) => show(next.id, state))
      .then((stored) => {
        show(next.id, { kind: 'done', ...stored })
        whenDone()
      })
      .catch((error: unknown) => {
        failed.set(next.id, next.file)
        show(next.id, { kind: 'failed', message: faultText(error) })
      })
      .finally(() => {
        running--
        startNext()
      })
      .catch(() => undefined)
  }
}

function show(id: number, state: UploadState): void {
  uploads.set(uploads.get().map((one) => (one.id === id ? { ...one, state } : one)))
}

// Cleared at sign-out.
session.subscribe(() => {
  if (Object.keys(session.get()).length > 0) return
  queue.length = 0
  failed.clear()
  uploads.set([])
})

// Uploads continue on other screens.
uploads.subscribe(() => {
  const all = uploads.get()
  const open = all.filter(({ state }) => state.kind !== 'done' && state.kind !== 'failed').length
  if (open === 0) dropTask(TASK)
  else {
    const part = 1 - open / all.length
    showTask({ id: TASK, label: tn('images.uploading', open), part, state: 'running', to: 'imagenes' })
  }
})

interface Stored {
  readonly hash: string
  readonly similar: number
}

/** Not with `fetch`, which does not report upload progress. */
function send(file: File, tell: (state: UploadState) => void): Promise<Stored> {
  const body = new FormData()
  const mime = file.type === '' ? 'application/octet-stream' : file.type
  body.append('info', JSON.stringify({ name: file.name === '' ? 'imagen' : file.name, mime, ip: NO_ADDRESS }))
  body.append('image', file)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', addressOf('/api/v1/imagestore/upload', { api: keyFor('imagestore') ?? '' }))
    request.timeout = TIMEOUT_MS
    request.upload.onprogress = ({ loaded, total }) =>
      tell({ kind: 'sending', part: total === 0 ? 0 : loaded / total })
    request.upload.onload = () => tell({ kind: 'checking' })
    request.onerror = request.ontimeout = () => {
      noteLost()
      reject(new Error(t('app.lost')))
    }
    request.onload = () => {
      const answer = readJson(request.responseText)
      if (request.status === 200 && answer !== undefined) {
        const { hash, similar } = answer
        resolve({ hash: String(hash), similar: typeof similar === 'number' ? similar : 0 })
      } else reject(errorOf(request.status, answer))
    }
    request.send(body)
  })
}

function readJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
