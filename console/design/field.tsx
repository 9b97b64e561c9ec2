import { useId, type ComponentProps, type ReactNode } from 'react'
import { Icon } from './elements.tsx'

interface LabelProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly className?: string | undefined
}

const Labelled = ({ label, hint, className, children }: LabelProps & { children: ReactNode }) => (
  <label className={`field ${className ?? ''}`}>
    <span>{label}</span>
    {children}
    {hint !== undefined && <small className="muted">{hint}</small>}
  </label>
)

interface TextFieldProps extends LabelProps, Omit<ComponentProps<'input'>, 'className' | 'onChange'> {
  readonly isMono?: boolean
  readonly onChange: (text: string) => void
}

/** A labelled field of one line. */
export const TextField = ({ label, hint, className, isMono, onChange, ...rest }: TextFieldProps) => (
  <Labelled {...{ label, hint, className }}>
    <input
      autoComplete="off"
      {...rest}
      className={isMono === true ? 'input mono' : 'input'}
      onChange={(event) => onChange(event.target.value)}
    />
  </Labelled>
)

interface TextAreaProps extends Omit<ComponentProps<'textarea'>, 'className' | 'onChange'> {
  readonly label: string
  readonly hint: string
  readonly look: 'mono' | 'note'
  readonly onChange: (text: string) => void
}

/** A labelled field of several lines. */
export function TextArea({ label, hint, look, onChange, ...rest }: TextAreaProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        aria-describedby={`${id}-hint`}
        autoComplete="off"
        {...rest}
        className={`input ${look}`}
        onChange={(event) => onChange(event.target.value)}
      />
      <small id={`${id}-hint`} className="muted">
        {hint}
      </small>
    </div>
  )
}

interface SelectProps<T extends string> {
  readonly value: T
  readonly options: readonly T[]
  readonly textOf: (option: T) => string
  readonly className?: string
  readonly 'aria-label'?: string
  readonly onChange: (option: T) => void
}

export function Select<T extends string>(props: SelectProps<T>) {
  const { value, options, textOf, className = 'input', onChange, ...rest } = props
  return (
    <select
      {...rest}
      className={className}
      value={value}
      onChange={(event) => onChange(options.find((option) => option === event.target.value) ?? value)}
    >
      {options.map((option) => (
        <option key={option} value={option}>
          {textOf(option)}
        </option>
      ))}
    </select>
  )
}

/** A labelled choice. */
export const SelectField = <T extends string>({
  label,
  hint,
  className,
  ...rest
}: LabelProps & Omit<SelectProps<T>, 'className'>) => (
  <Labelled {...{ label, hint, className }}>
    <Select {...rest} />
  </Labelled>
)

interface CheckProps {
  readonly label: string
  readonly hint?: string
  readonly value: boolean
  readonly isDisabled?: boolean
  readonly onChange: (value: boolean) => void
}

export const Check = ({ label, hint, value, isDisabled = false, onChange }: CheckProps) => (
  <label className="check">
    <input
      type="checkbox"
      checked={value}
      disabled={isDisabled}
      onChange={(event) => onChange(event.target.checked)}
    />
    <span>
      {label}
      {hint !== undefined && <span className="muted block"> {hint}</span>}
    </span>
  </label>
)

interface SearchBoxProps extends Pick<ComponentProps<'input'>, 'ref' | 'value' | 'maxLength'> {
  readonly label: string
  readonly onChange: (text: string) => void
}

/** A search field whose label is in it. */
export const SearchBox = ({ label, onChange, ...rest }: SearchBoxProps) => (
  <div className="query" role="search">
    <Icon name="search" />
    <input
      {...rest}
      className="input"
      type="search"
      aria-label={label}
      placeholder={label}
      onChange={(event) => onChange(event.target.value)}
    />
  </div>
)
