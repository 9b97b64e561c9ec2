import { useStore } from '../app/store.ts'
import { Icon } from '../design/icon.tsx'
import { bytes, t, tn } from '../i18n/index.ts'
import { clearUploads, uploads, type Upload } from './uploads.ts'

export function UploadList() {
  const all = useStore(uploads)
  if (all.length === 0) return null
  const done = all.filter(({ state }) => state.kind === 'done').length
  const failed = all.filter(({ state }) => state.kind === 'failed').length
  const isResting = done + failed === all.length
  return (
    <section className="uploads" aria-label={t('images.uploads')}>
      <div className="row">
        <h2 className="grow" role="status">
          {tn('images.uploadsDone', done)}
          {failed > 0 && <span className="fault-text"> · {tn('images.uploadsFailed', failed)}</span>}
        </h2>
        <button type="button" className="button quiet" disabled={!isResting} onClick={clearUploads}>
          {t('images.clear')}
        </button>
      </div>
      <ul>
        {all.map((upload) => (
          <li key={upload.id} className="upload">
            <span className="upload-name">{upload.name}</span>
            <span className="muted figures">{bytes(upload.size)}</span>
            <Progress upload={upload} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Progress({ upload: { name, state } }: { upload: Upload }) {
  switch (state.kind) {
    case 'waiting':
      return <span className="muted">{t('images.waiting')}</span>
    case 'sending':
      return <progress max={1} value={state.part} aria-label={name} />
    case 'checking':
      return (
        <span className="row muted">
          <span className="spinner" />
          {t('images.checking')}
        </span>
      )
    case 'done':
      return (
        <span className="tag free">
          <Icon name="check" />
          {t('images.uploaded')}
        </span>
      )
    case 'failed':
      return (
        <span className="tag danger">
          <Icon name="alert" />
          {state.message}
        </span>
      )
  }
}
