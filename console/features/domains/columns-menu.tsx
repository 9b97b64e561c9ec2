import { Fragment } from 'react'
import { useStore } from '../../base/store.ts'
import { MenuEntry, Menu } from '../../design/elements.tsx'
import { Check } from '../../design/field.tsx'
import { t } from '../../i18n/index.ts'
import { COLUMN_IDS, COLUMNS, type ColumnId, DENSITIES, preferTable, tablePreferences } from './columns.ts'

/** The columns from this one on show signals. */
const FIRST_SIGNAL: ColumnId = 'interest'

/** Which columns the table shows, and how close its rows are. */
export default function ColumnsMenu({ columns }: { columns: readonly ColumnId[] }) {
  const { columns: chosen, widths, density } = useStore(tablePreferences)
  const toggle = (id: ColumnId, isOn: boolean) =>
    preferTable({
      columns: COLUMN_IDS.filter((one) => (one === id ? isOn : columns.includes(one))),
    })
  const isOwn = chosen !== undefined || Object.keys(widths).length > 0
  return (
    <Menu label={t('columns.title')} icon="columns">
      {COLUMN_IDS.map((id) => (
        <Fragment key={id}>
          {id === FIRST_SIGNAL && <p className="muted">{t('columns.signals')}</p>}
          <Check
            label={t(COLUMNS[id].label)}
            value={columns.includes(id)}
            isDisabled={id === 'name'}
            onChange={(isOn) => toggle(id, isOn)}
          />
        </Fragment>
      ))}
      <fieldset className="densities">
        <legend className="visually-hidden">{t('columns.density')}</legend>
        {DENSITIES.map((one) => (
          <label key={one} className="check">
            <input
              type="radio"
              name="density"
              checked={density === one}
              onChange={() => preferTable({ density: one })}
            />
            {t(`columns.${one}`)}
          </label>
        ))}
      </fieldset>
      {isOwn && (
        <MenuEntry
          icon="undo"
          label={t('columns.reset')}
          onClick={() => preferTable({ columns: undefined, widths: {} })}
        />
      )}
    </Menu>
  )
}
