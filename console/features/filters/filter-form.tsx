import { useState, type FormEvent } from 'react'
import { MAX_FILTER_CHARACTERS } from '../../base/constants.ts'
import { t } from '../../i18n/index.ts'
import { FILTER_FIELDS, withFilters, type Filters } from './filters.ts'
import { Button } from '../../design/elements.tsx'
import { SelectField, TextField } from '../../design/field.tsx'

const FIELDS = FILTER_FIELDS.flatMap(([name, { label, control, help }]) =>
  label === undefined || control === undefined ? [] : [{ name, label, control, help }],
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
        {FIELDS.map(({ name, ...field }) => (
          <Value
            key={name}
            {...field}
            value={values[name] ?? ''}
            onChange={(value) => setValues({ ...values, [name]: value })}
          />
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

const YES_NO = { '': 'filter.any', '1': 'filter.with', '0': 'filter.without' } as const

interface ValueProps extends Omit<(typeof FIELDS)[number], 'name'> {
  readonly value: string
  readonly onChange: (value: string) => void
}

function Value({ label, control, help, value, onChange }: ValueProps) {
  const shared = { label: t(label), hint: help && t(help), onChange }
  if (control === 'yes-no') {
    return (
      <SelectField
        {...shared}
        value={value === '1' || value === '0' ? value : ''}
        options={['', '1', '0']}
        textOf={(one) => t(YES_NO[one])}
      />
    )
  }
  return (
    <TextField
      {...shared}
      type={control === 'date' ? 'date' : 'text'}
      inputMode={control === 'number' ? 'numeric' : undefined}
      maxLength={MAX_FILTER_CHARACTERS}
      autoComplete={undefined}
      value={value}
    />
  )
}
