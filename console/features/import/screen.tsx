import { useEffect, useRef, useState } from 'react'
import { errorMessage } from '../../api/error-message.ts'
import { useStore } from '../../base/store.ts'
import { Button, Icon } from '../../design/elements.tsx'
import { t } from '../../i18n/index.ts'
import '../../i18n/texts/importing.ts'
import { changeChoice, chooseList, chosenList } from './imports.ts'
import { ListForm } from './list-form.tsx'
import { PastImports } from './past-imports.tsx'
import './import.css'

/** Takes a dropped list of the registry, which the service imports, and shows earlier imports. */
export default function ImportScreen() {
  const list = useStore(chosenList)
  const [fault, setFault] = useState<string>()
  const picker = useRef<HTMLInputElement>(null)
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? []
    if (file === undefined) return
    if (files !== null && files !== undefined && files.length > 1) setFault(t('import.oneFile'))
    else if (chosenList.get()?.sent !== undefined) setFault(t('import.oneAtATime'))
    else {
      setFault(undefined)
      void chooseList(file)
    }
  }
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault()
    const drop = (event: DragEvent) => {
      event.preventDefault()
      take(event.dataTransfer?.files)
    }
    addEventListener('dragover', over)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('drop', drop)
    }
  }, [])
  const attempt = (work: () => Promise<void>) => {
    setFault(undefined)
    work().catch((error: unknown) => {
      // Stopped by the user.
      if (chosenList.get() === undefined) return
      changeChoice({ sent: undefined })
      setFault(errorMessage(error))
    })
  }
  return (
    <div className="page wide">
      <header>
        <h1>{t('nav.import')}</h1>
      </header>
      <p className="muted">{t('import.how')}</p>
      <div role="alert">{fault !== undefined && <p className="callout danger said-fault">{fault}</p>}</div>
      {list === undefined ? (
        <div className="drop-place">
          <Icon name="upload" />
          <p>{t('import.drop')}</p>
          <p className="muted">{t('import.kinds')}</p>
          <Button look="primary" label={t('import.pick')} onClick={() => picker.current?.click()} />
        </div>
      ) : (
        <ListForm list={list} onSend={attempt} />
      )}
      <PastImports />
      <input
        ref={picker}
        hidden
        type="file"
        accept=".csv,.txt,.tsv,.ndjson,.gz,.zst,text/csv,text/plain"
        onChange={(event) => {
          take(event.target.files)
          // Allows choosing the same file again.
          event.target.value = ''
        }}
      />
    </div>
  )
}
