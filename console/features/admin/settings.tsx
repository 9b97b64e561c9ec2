import type { Operations } from '../../api/schema.ts'
import { WideTable } from '../../design/wide-table.tsx'
import { t } from '../../i18n/index.ts'

type Setting = Operations['GET /api/v1/admin/system']['answer']['settings'][number]

/** The settings of the service, non-default ones first. */
export function Settings({ settings }: { settings: readonly Setting[] }) {
  const isSet = ({ from }: Setting) => from !== 'default'
  const sorted = [...settings.filter(isSet), ...settings.filter((one) => !isSet(one))]
  return (
    <section className="stack">
      <h2 id="settings">{t('system.settings')}</h2>
      <p className="muted">{t('system.settingsHint')}</p>
      <WideTable labelledBy="settings">
        <thead>
          <tr>
            <th scope="col">{t('system.name')}</th>
            <th scope="col">{t('system.value')}</th>
            <th scope="col">{t('system.from')}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((setting) => (
            <tr key={setting.name}>
              <th scope="row" className="mono">
                {setting.name}
              </th>
              <td className="mono setting-value">
                {setting.value === '' ? <span className="muted">{t('system.unset')}</span> : setting.value}
              </td>
              <td className={isSet(setting) ? '' : 'muted'}>{t(`from.${setting.from}`)}</td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </section>
  )
}
