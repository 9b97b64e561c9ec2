import { type ReactNode, useEffect, useState } from 'react'
import { usePermissions } from '../../api/scope.ts'
import { useRoute, withParameters } from '../../base/router.ts'
import { useStore } from '../../base/store.ts'
import { Button, Icon, Link, Tag } from '../../design/elements.tsx'
import { addUploads, clearUploads, retryUploads, type Upload, uploads } from './uploads.ts'
import { bytes, count, t, tn } from '../../i18n/index.ts'
import './upload.css'

/** Maximum rows shown; files with problems come first. */
const SHOWN = 100
const RANKS = { failed: 0, sending: 1, held: 1, checking: 1, done: 2, waiting: 3 } as const

export function UploadList() {
  const all = useStore(uploads)
  if (all.length === 0) return null
  const done = all.filter(({ state }) => state.kind === 'done').length
  const failed = all.filter(({ state }) => state.kind === 'failed').length
  const shown = all.length <= SHOWN ? all : all.toSorted(byInterest).slice(0, SHOWN)
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
    case 'held':
      return (
        <span className="row muted">
          <span className="spinner" />
          {t('images.held')}
        </span>
      )
    case 'sending':
      return <progress max={1} value={state.progress} aria-label={name} />
    case 'checking':
      return (
        <span className="row muted">
          <span className="spinner" />
          {t('images.checking')}
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
    addEventListener('dragover', over)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    addEventListener('paste', paste)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
      removeEventListener('paste', paste)
    }
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
