import { useState, type FormEvent } from 'react'
import { MAX_FILTER_CHARACTERS } from '../../base/constants.ts'
import { t } from '../../i18n/index.ts'
import { FILTER_FIELDS, withFilters, type FilterField, type Filters } from './filters.ts'
import { Button } from '../../design/button.tsx'

const FIELDS = FILTER_FIELDS.flatMap(([name, { label, control }]) =>
  label === undefined || control === undefined ? [] : [{ name, label, control }],
)

/** The form of all filters without a chip, in a dialog that is open before its code is there. */
export default function FilterForm(props: {
  filters: Filters
  onChange: (filters: Filters) => void
  onClose: () => void
}) {
  const { filters, onChange, onClose } = props
  const [values, setValues] = useState<Readonly<Record<string, string>>>(filters)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const changes = FIELDS.map(({ name }) => [name, values[name]?.trim() || undefined])
    onChange(withFilters(filters, Object.fromEntries(changes)))
    onClose()
  }
  return (
    <form className="stack" onSubmit={apply}>
      <div className="filter-fields">
        {FIELDS.map(({ name, label, control }) => (
          <label key={name} className="field">
            <span>{t(label)}</span>
            <Value
              control={control}
              value={values[name] ?? ''}
              onChange={(value) => setValues({ ...values, [name]: value })}
            />
          </label>
        ))}
      </div>
      <p className="muted">{t('domains.helpText')}</p>
      <div className="row end">
        <Button label={t('app.cancel')} onClick={onClose} />
        <Button look="primary" label={t('filter.apply')} type="submit" />
      </div>
    </form>
  )
}

function Value(props: { control: FilterField['control']; value: string; onChange: (value: string) => void }) {
  const { control, value, onChange } = props
  if (control === 'yes-no') {
    return (
      <select className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t('filter.any')}</option>
        <option value="1">{t('filter.with')}</option>
        <option value="0">{t('filter.without')}</option>
      </select>
    )
  }
  return (
    <input
      className="input"
      type={control === 'date' ? 'date' : 'text'}
      inputMode={control === 'number' ? 'numeric' : undefined}
      maxLength={MAX_FILTER_CHARACTERS}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
