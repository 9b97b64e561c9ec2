import type { ComponentProps, MouseEvent } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps extends ComponentProps<'button'> {
  readonly label?: string
  readonly look?: 'primary' | 'quiet' | 'danger' | undefined
  readonly icon?: IconName | undefined
  /** What it acts on, for screen readers: one of several buttons with the same text. */
  readonly about?: string
  /** Shows that it is at work, in place of its icon. */
  readonly isBusy?: boolean
}

export function Button({ label, look, icon, about, isBusy, className, children, ...rest }: ButtonProps) {
  const classes = ['button', look, className].filter((name) => name !== undefined)
  return (
    <button type="button" {...rest} className={classes.join(' ')}>
      {isBusy === true ? <span className="spinner" /> : icon !== undefined && <Icon name={icon} />}
      {label}
      {children}
      {about !== undefined && <span className="visually-hidden"> {about}</span>}
    </button>
  )
}

interface IconButtonProps extends ComponentProps<'button'> {
  readonly icon: IconName
  readonly label: string
}

/** A button that shows only its icon. */
export function IconButton({ icon, label, className, ...rest }: IconButtonProps) {
  const classes = ['button quiet icon', className].filter((name) => name !== undefined)
  return (
    <button type="button" {...rest} className={classes.join(' ')} aria-label={label}>
      <Icon name={icon} />
    </button>
  )
}

/** An entry of a menu, which closes with it. */
export function MenuEntry({ icon, label, ...rest }: IconButtonProps) {
  return (
    <button type="button" data-closes {...rest}>
      <Icon name={icon} />
      {label}
    </button>
  )
}

/**
 * Returns a click handler that ignores further clicks of a double click: they would revert the first one, or hit what
 * took the place of its target.
 */
export const onFirstClick =
  (act: () => void) =>
  ({ detail }: MouseEvent): void => {
    if (detail < 2) act()
  }
