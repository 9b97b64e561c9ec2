import { useEffect, useState, type ReactNode } from 'react'
import { usePermissions } from '../../api/scope.ts'
import { Icon } from '../../design/icon.tsx'
import { t } from '../../i18n/index.ts'
import { addUploads } from './uploads.ts'
import './upload.css'

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
