import { useAccounts } from '../../api/scope.ts'
import { Icon } from '../../design/icon.tsx'
import { WideTable } from '../../design/wide-table.tsx'
import { count, moment, t, tn } from '../../i18n/index.ts'
import { pastImports } from './past-imports.ts'

/** The imports of this account in this browser. */
export function PastImportsList() {
  const all = pastImports(useAccounts()('domainwatch'))
  if (all.length === 0) return null
  return (
    <section className="stack past-imports">
      <h2 id="past-imports">{t('import.past')}</h2>
      <WideTable labelledBy="past-imports">
        <thead>
          <tr>
            <th scope="col">{t('import.file')}</th>
            <th scope="col">{t('import.when')}</th>
            <th scope="col">{t('import.howMany')}</th>
            <th scope="col">{t('import.ended')}</th>
          </tr>
        </thead>
        <tbody>
          {all.map(({ name, at, rows, stored, refused, isComplete }) => (
            <tr key={`${at} ${name}`}>
              <th scope="row">{name}</th>
              <td>{moment(at)}</td>
              <td className="figures">
                {t('import.stored', { n: count(stored), all: count(rows) })}
                {refused > 0 && ` · ${tn('import.refusedRows', refused)}`}
              </td>
              <td>
                <span className={isComplete ? 'tag free' : 'tag danger'}>
                  <Icon name={isComplete ? 'check' : 'alert'} />
                  {t(isComplete ? 'import.whole' : 'import.inPart')}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </section>
  )
}
