import { useState, type FormEvent } from 'react'
import { Dialog } from '../design/parts.tsx'
import { t, type TextKey } from '../i18n/index.ts'
import { withFilters, type Filters } from './filters.ts'

type Kind = 'text' | 'number' | 'date' | 'yes-no'

const FIELDS: readonly (readonly [name: string, label: TextKey, kind: Kind])[] = [
  ['starts', 'filter.starts', 'text'],
  ['ends', 'filter.ends', 'text'],
  ['pattern', 'filter.pattern', 'text'],
  ['length', 'domains.length', 'number'],
  ['min_length', 'filter.min', 'number'],
  ['max_length', 'filter.max', 'number'],
  ['from', 'filter.from', 'date'],
  ['to', 'filter.to', 'date'],
  ['hyphen', 'filter.hyphen', 'yes-no'],
  ['digits', 'filter.digits', 'yes-no'],
  ['idn', 'filter.idn', 'yes-no'],
  ['last_register', 'filter.lastRegister', 'number'],
  ['last_deleted', 'filter.lastDeleted', 'number'],
]

/** Every filter that has no chip of its own, as a form. */
export default function FilterForm(props: {
  filters: Filters
  onChange: (filters: Filters) => void
  onClose: () => void
}) {
  const { filters, onChange, onClose } = props
  const [values, setValues] = useState<Readonly<Record<string, string>>>(filters)
  const apply = (event: FormEvent) => {
    event.preventDefault()
    const changes = FIELDS.map(([name]) => [name, values[name]?.trim() || undefined])
    onChange(withFilters(filters, Object.fromEntries(changes)))
    onClose()
  }
  return (
    <Dialog title={t('filter.title')} onClose={onClose}>
      <form className="stack" onSubmit={apply}>
        <div className="filter-fields">
          {FIELDS.map(([name, label, kind]) => (
            <label key={name} className="field">
              <span>{t(label)}</span>
              <Value
                kind={kind}
                value={values[name] ?? ''}
                onChange={(value) => setValues({ ...values, [name]: value })}
              />
            </label>
          ))}
        </div>
        <p className="muted">{t('domains.helpText')}</p>
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {t('app.cancel')}
          </button>
          <button type="submit" className="button primary">
            {t('filter.apply')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function Value({ kind, value, onChange }: { kind: Kind; value: string; onChange: (value: string) => void }) {
  if (kind === 'yes-no') {
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
      type={kind === 'date' ? 'date' : 'text'}
      inputMode={kind === 'number' ? 'numeric' : undefined}
      maxLength={255}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
