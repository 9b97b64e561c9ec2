import { useEffect, useRef, useState } from 'react'
import { errorMessage } from '../../api/error-message.ts'
import { useStore } from '../../base/store.ts'
import { Button } from '../../design/button.tsx'
import { Icon } from '../../design/icon.tsx'
import { count, t } from '../../i18n/index.ts'
import '../../i18n/texts/importing.ts'
import type { DayOrder } from './dates.ts'
import { currentImport, isStoring, loadFile, readProgress, resumeImport } from './job.ts'
import { ResumeImports, useStoredImports, type OnResume } from './resume-import.tsx'
import { PastImportsList } from './past-imports.tsx'
import { Preview } from './preview.tsx'
import { UnreadableFile } from './decode-text.ts'
import './import.css'

/** Reads a dropped list of the registry, shows a preview, and stores it. */
export default function ImportScreen() {
  const loaded = useStore(currentImport)
  const part = useStore(readProgress)
  const [fault, setFault] = useState<string>()
  const picker = useRef<HTMLInputElement>(null)
  const take = (file: File | undefined, order?: DayOrder) =>
    file === undefined ? undefined : attempt(file, () => loadFile(file, order))
  async function attempt(file: File, load: () => Promise<void>) {
    setFault(undefined)
    if (isStoring()) {
      setFault(t('import.oneAtATime'))
      return
    }
    try {
      await load()
    } catch (error) {
      const reason = error instanceof UnreadableFile ? t(error.reason) : errorMessage(error)
      setFault(t('import.unreadableFile', { name: file.name, reason }))
    }
  }
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault()
    const drop = (event: DragEvent) => {
      event.preventDefault()
      const files = event.dataTransfer?.files
      if (files !== undefined && files.length > 1) setFault(t('import.oneFile'))
      else void take(files?.[0])
    }
    addEventListener('dragover', over)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('drop', drop)
    }
  }, [])
  return (
    <div className="page">
      <header>
        <h1>{t('nav.import')}</h1>
      </header>
      <div role="alert">{fault !== undefined && <p className="callout danger said-fault">{fault}</p>}</div>
      {loaded !== undefined && (
        <Preview key={loaded.id} loaded={loaded} onOrder={(order) => void take(loaded.file, order)} />
      )}
      {part !== undefined && (
        <p className="muted figures" role="status">
          {t('import.reading', { n: count(Math.floor(part * 100)) })}
        </p>
      )}
      {loaded === undefined && (
        <DropPlace
          onPick={() => picker.current?.click()}
          onResume={(file, order) => void attempt(file, () => resumeImport(file, order))}
        />
      )}
      <input
        ref={picker}
        hidden
        type="file"
        accept=".csv,.txt,.tsv,.gz,text/csv,text/plain"
        onChange={(event) => {
          void take(event.target.files?.[0])
          // Allows choosing the same file again.
          event.target.value = ''
        }}
      />
    </div>
  )
}

function DropPlace({ onPick, onResume }: { onPick: () => void; onResume: OnResume }) {
  const renew = useStoredImports()
  return (
    <div className="stack">
      <ResumeImports onResume={onResume} onDiscarded={renew} />
      <div className="drop-place">
        <Icon name="upload" />
        <p>{t('import.drop')}</p>
        <p className="muted">{t('import.kinds')}</p>
        <Button look="primary" label={t('import.pick')} onClick={onPick} />
      </div>
      <PastImportsList />
    </div>
  )
}
