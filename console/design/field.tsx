import type { ComponentProps } from 'react'

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  readonly label: string
  readonly hint?: string | undefined
  readonly isMono?: boolean
  readonly onText: (text: string) => void
}

/** A labelled field of one line. */
export function TextField({ label, hint, isMono, className, onText, ...rest }: TextFieldProps) {
  return (
    <label className={`field ${className ?? ''}`}>
      <span>{label}</span>
      <input
        autoComplete="off"
        {...rest}
        className={isMono === true ? 'input mono' : 'input'}
        onChange={(event) => onText(event.target.value)}
      />
      {hint !== undefined && <small className="muted">{hint}</small>}
    </label>
  )
}

interface SelectProps<T extends string> {
  readonly value: T
  readonly options: readonly T[]
  readonly textOf: (option: T) => string
  readonly onChoose: (option: T) => void
}

export function Select<T extends string>({ value, options, textOf, onChoose }: SelectProps<T>) {
  return (
    <select
      className="input"
      value={value}
      onChange={(event) => onChoose(options.find((option) => option === event.target.value) ?? value)}
    >
      {options.map((option) => (
        <option key={option} value={option}>
          {textOf(option)}
        </option>
      ))}
    </select>
  )
}

interface SelectFieldProps<T extends string> extends SelectProps<T> {
  readonly label: string
  readonly hint?: string | undefined
  readonly className?: string
}

/** A labelled choice. */
export const SelectField = <T extends string>({ label, hint, className, ...rest }: SelectFieldProps<T>) => (
  <label className={`field ${className ?? ''}`}>
    <span>{label}</span>
    <Select {...rest} />
    {hint !== undefined && <small className="muted">{hint}</small>}
  </label>
)

export function Check(props: { label: string; value: boolean; onChange: (value: boolean) => void }) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={props.value}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.label}
    </label>
  )
}
