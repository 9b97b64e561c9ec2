import { useAccounts } from '../../api/scope.ts'
import { browserStorage } from '../../base/browser-storage.ts'
import { serverNow, SERVICE_URL } from '../../base/server.ts'
import { WideTable } from '../../design/wide-table.tsx'
import { count, moment, t, tn } from '../../i18n/index.ts'
import { Tag } from '../../design/tag.tsx'

/** An import that ended or was stopped. */
export interface PastImport {
  readonly name: string
  /** Seconds since 1970, by the service's clock. */
  readonly at: number
  readonly rows: number
  readonly stored: number
  readonly refused: number
  readonly isComplete: boolean
}

/** A quarter of a year of daily lists. */
const MAX_KEPT = 90

const placeOf = (account: string): string => `catalejo.imports ${SERVICE_URL.pathname} ${account}`

/** Returns the imports of an account in this browser, newest first. */
function pastImports(account: string | undefined): readonly PastImport[] {
  if (account === undefined) return []
  try {
    const found: unknown = JSON.parse(browserStorage.read(placeOf(account)) ?? '[]')
    return Array.isArray(found) ? found.flatMap(readImport).slice(0, MAX_KEPT) : []
  } catch {
    return []
  }
}

/** Records how an import ended. A resumed import replaces its earlier part. */
export function recordPastImport(account: string | undefined, ended: Omit<PastImport, 'at'>): void {
  if (account === undefined) return
  const isPart = ({ name, rows, isComplete }: PastImport) =>
    name === ended.name && rows === ended.rows && !isComplete
  const before = pastImports(account).filter((one) => !isPart(one))
  const all = [{ ...ended, at: Math.floor(serverNow() / 1_000) }, ...before]
  browserStorage.write(placeOf(account), JSON.stringify(all.slice(0, MAX_KEPT)))
}

function readImport(found: unknown): PastImport[] {
  if (typeof found !== 'object' || found === null) return []
  const { name, at, rows, stored, refused, isComplete }: Partial<Record<keyof PastImport, unknown>> = found
  if (typeof name !== 'string' || typeof at !== 'number' || typeof rows !== 'number') return []
  if (typeof stored !== 'number' || typeof refused !== 'number' || typeof isComplete !== 'boolean') return []
  return [{ name, at, rows, stored, refused, isComplete }]
}

/** The imports of this account in this browser. */
export function PastImportsList() {
  const all = pastImports(useAccounts()('domainwatch'))
  if (all.length === 0) return null
  return (
    <section className="stack past-imports">
      <h2 id="past-imports">{t('import.past')}</h2>
      <WideTable
        labelledBy="past-imports"
        heads={[t('import.file'), t('import.when'), t('import.howMany'), t('import.ended')]}
      >
        {all.map(({ name, at, rows, stored, refused, isComplete }) => (
          <tr key={`${at} ${name}`}>
            <th scope="row">{name}</th>
            <td>{moment(at)}</td>
            <td className="figures">
              {t('import.stored', { n: count(stored), all: count(rows) })}
              {refused > 0 && ` · ${tn('import.refusedRows', refused)}`}
            </td>
            <td>
              <Tag
                icon={isComplete ? 'check' : 'alert'}
                look={isComplete ? 'free' : 'danger'}
                label={t(isComplete ? 'import.whole' : 'import.inPart')}
              />
            </td>
          </tr>
        ))}
      </WideTable>
    </section>
  )
}
