import { useEffect, useState } from 'react'
import { useAccounts } from '../api/scope.ts'
import { Icon } from '../design/icon.tsx'
import { count, t } from '../i18n/index.ts'
import type { DayOrder } from './dates.ts'
import { loadSavedFile } from './saved-file.ts'
import { deleteUnfinished, loadUnfinished, type UnfinishedImport } from './unfinished.ts'

export type OnResume = (file: File, order: DayOrder | undefined) => void

/** An import interrupted by closing the page, with buttons to resume or discard it. */
export function ResumeImport({ onResume }: { onResume: OnResume }) {
  const account = useAccounts()('domainwatch')
  const [left, setLeft] = useState<UnfinishedImport>()
  const [file, setFile] = useState<File>()
  useEffect(() => {
    let isOver = false
    setLeft(account === undefined ? undefined : loadUnfinished(account))
    setFile(undefined)
    if (account !== undefined) void loadSavedFile(account).then((kept) => isOver || setFile(kept))
    return () => {
      isOver = true
    }
  }, [account])
  if (account === undefined || left === undefined) return null
  const kept = file?.name === left.name && file.size === left.size ? file : undefined
  const where = { name: left.name, n: count(left.done), all: count(left.rows) }
  return (
    <div className="callout stack">
      <p>{kept === undefined ? t('import.leftOff', where) : t('import.leftOffKept', where)}</p>
      <div className="row">
        {kept !== undefined && (
          <button type="button" className="button primary" onClick={() => onResume(kept, left.order)}>
            {t('import.goOnFrom', { n: count(left.done + 1) })}
          </button>
        )}
        <button
          type="button"
          className="button"
          onClick={() => {
            setLeft(undefined)
            void deleteUnfinished(account)
          }}
        >
          <Icon name="trash" />
          {t('import.discard')}
        </button>
      </div>
    </div>
  )
}
