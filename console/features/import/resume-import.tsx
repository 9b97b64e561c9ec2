import { useEffect, useReducer, useState } from 'react'
import { useAccounts } from '../../api/scope.ts'
import { onOtherTab } from '../../base/browser-storage.ts'
import { useStore } from '../../base/store.ts'
import { count, t } from '../../i18n/index.ts'
import type { DayOrder } from './dates.ts'
import { importsElsewhere, runsElsewhere } from './job.ts'
import {
  loadSavedFile,
  type FileId,
  deleteUnfinished,
  listUnfinished,
  loadUnfinished,
  type UnfinishedImport,
} from './unfinished.ts'
import { Button } from '../../design/button.tsx'

export type OnResume = (file: File, order: DayOrder | undefined) => void

interface ListProps {
  readonly onResume: OnResume
  readonly onDiscarded: () => void
}

/** The imports that run in other tabs, and those interrupted by closing the page, with buttons to resume or discard each. */
export function ResumeImports({ onResume, onDiscarded }: ListProps) {
  const account = useAccounts()('domainwatch')
  const elsewhere = useStore(importsElsewhere)
  if (account === undefined || elsewhere === undefined) return null
  return listUnfinished(account).map((left) =>
    runsElsewhere(left) ? (
      <RunsElsewhere key={`${left.size} ${left.name}`} file={left} />
    ) : (
      <ResumeImport
        key={`${account} ${left.size} ${left.name}`}
        account={account}
        left={left}
        onResume={onResume}
        onDiscard={() => {
          void deleteUnfinished(account, left)
          onDiscarded()
        }}
      />
    ),
  )
}

const progressOf = ({ name, done, rows }: UnfinishedImport) => ({ name, n: count(done), all: count(rows) })

/** The progress of an import in another tab. */
export function RunsElsewhere({ file }: { file: FileId }) {
  const account = useAccounts()('domainwatch')
  useStoredImports()
  const left = account === undefined ? undefined : loadUnfinished(account, file)
  if (left === undefined) return null
  return (
    <p className="callout" role="status">
      {t('import.elsewhere', progressOf(left))}
    </p>
  )
}

/** Renders again when another tab writes how far an import has come, or the returned function is called. */
export function useStoredImports(): () => void {
  const [, renew] = useReducer((n: number) => n + 1, 0)
  useEffect(() => onOtherTab((name) => name.startsWith('catalejo.import') && renew()), [])
  return renew
}

interface Props {
  readonly account: string
  readonly left: UnfinishedImport
  readonly onResume: OnResume
  readonly onDiscard: () => void
}

function ResumeImport({ account, left, onResume, onDiscard }: Props) {
  const { name, size, done, order } = left
  const [file, setFile] = useState<File>()
  useEffect(() => {
    let isOver = false
    void loadSavedFile(account, { name, size }).then((kept) => isOver || setFile(kept))
    return () => {
      isOver = true
    }
  }, [account, name, size])
  return (
    <div className="callout stack">
      <p>{t(file === undefined ? 'import.leftOff' : 'import.leftOffKept', progressOf(left))}</p>
      <div className="row">
        {file !== undefined && (
          <Button
            look="primary"
            label={t('import.goOnFrom', { n: count(done + 1) })}
            onClick={() => onResume(file, order)}
          />
        )}
        <Button icon="trash" label={t('import.discard')} onClick={onDiscard} />
      </div>
    </div>
  )
}
