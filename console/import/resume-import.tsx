import { useEffect, useState } from 'react'
import { useAccounts } from '../api/scope.ts'
import { Icon } from '../design/icon.tsx'
import { count, t } from '../i18n/index.ts'
import type { DayOrder } from './dates.ts'
import { loadSavedFile } from './saved-file.ts'
import { deleteUnfinished, listUnfinished, type UnfinishedImport } from './unfinished.ts'

export type OnResume = (file: File, order: DayOrder | undefined) => void

/** The imports interrupted by closing the page, with buttons to resume or discard each. */
export function ResumeImports({ onResume }: { onResume: OnResume }) {
  const account = useAccounts()('domainwatch')
  const [all, setAll] = useState<readonly UnfinishedImport[]>([])
  useEffect(() => setAll(account === undefined ? [] : listUnfinished(account)), [account])
  if (account === undefined) return null
  return all.map((left) => (
    <ResumeImport
      key={`${account} ${left.size} ${left.name}`}
      account={account}
      left={left}
      onResume={onResume}
      onDiscard={() => {
        setAll(all.filter((one) => one !== left))
        void deleteUnfinished(account, left)
      }}
    />
  ))
}

interface Props {
  readonly account: string
  readonly left: UnfinishedImport
  readonly onResume: OnResume
  readonly onDiscard: () => void
}

function ResumeImport({ account, left, onResume, onDiscard }: Props) {
  const [file, setFile] = useState<File>()
  useEffect(() => {
    let isOver = false
    void loadSavedFile(account, left).then((kept) => isOver || setFile(kept))
    return () => {
      isOver = true
    }
  }, [account, left])
  const where = { name: left.name, n: count(left.done), all: count(left.rows) }
  return (
    <div className="callout stack">
      <p>{file === undefined ? t('import.leftOff', where) : t('import.leftOffKept', where)}</p>
      <div className="row">
        {file !== undefined && (
          <button type="button" className="button primary" onClick={() => onResume(file, left.order)}>
            {t('import.goOnFrom', { n: count(left.done + 1) })}
          </button>
        )}
        <button type="button" className="button" onClick={onDiscard}>
          <Icon name="trash" />
          {t('import.discard')}
        </button>
      </div>
    </div>
  )
}
